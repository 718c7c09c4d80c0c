/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Documents of what a run has found out about its program, for continuous integration:
 * as JSON, as SARIF 2.1.0 and as JUnit's XML. They are made of the lines of JSON that
 * the processes of the job have appended (libbcs/report/finding.h). Used by bcsrun; one
 * thread.
 */
#ifndef APPS_TOOLS_FINDINGS_FINDINGS_H
#define APPS_TOOLS_FINDINGS_FINDINGS_H

#include <limits.h>
#include <stdbool.h>

#include "apps/tools/findings/findings_run.h"

/** The documents. */
enum findings_form { FINDINGS_JSON, FINDINGS_SARIF, FINDINGS_JUNIT, FINDINGS_FORMS };

enum { FINDINGS_ERROR_BYTES = PATH_MAX + 128 };

/** Where each document is written; "": it is not wanted. */
struct findings_files {
    char paths[FINDINGS_FORMS][PATH_MAX];
};

/** Whether this program can write documents: whether it was built with Jansson. */
bool findings_are_possible(void);

/**
 * Find out whether a document can be written, and where. Makes the file that it is
 * first written to, and removes it again.
 *
 * @param path      a file that need not exist; if it does it must be a regular one
 * @param path_out  what is to be given to findings_write
 * @param error_out receives why not
 * @return 0 or -errno
 */
int findings_check(const char *path, char path_out[PATH_MAX],
                   char error_out[FINDINGS_ERROR_BYTES]);

/**
 * Write the documents, each whole or not at all.
 *
 * @param folder    that has the lines of JSON; NULL: nothing is known of findings
 * @param error_out receives why the first one is not written that is not
 * @return 0 or -errno
 */
int findings_write(const struct findings_files *files, const char *folder,
                   const struct findings_run *run,
                   char error_out[FINDINGS_ERROR_BYTES]);

#endif
