/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads what the processes of a job have appended. Internal to this folder.
 */
#ifndef APPS_TOOLS_FINDINGS_FINDINGS_READ_H
#define APPS_TOOLS_FINDINGS_FINDINGS_READ_H

#include "apps/tools/findings/document.h"

/**
 * Read the findings in a folder, those of each machine in the order in which they were
 * appended. Each one has all of: kind, level, message, text, page, ranks (numbers in
 * their order), places (objects). Paths of files below the working folder are relative
 * to it. What is no finding is left out, and counted.
 *
 * @param folder   NULL: there are none
 * @param working  the working folder
 * @param status   of the job
 * @return for json_decref; NULL: no memory
 */
json_t *findings_read(const char *folder, const char *working, int status,
                      int *n_lost_out);

#endif
