/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What --diagnose asks for: a run with all that looks at it, and one page about it.
 * Used by bcsrun and its keeper.
 */
#ifndef APPS_TOOLS_LAUNCH_DIAGNOSIS_H
#define APPS_TOOLS_LAUNCH_DIAGNOSIS_H

#include <stdbool.h>

/**
 * Find out whether there is the program that makes the page, and have all ranks told of
 * the lint, of the look at buffers, and that they record.
 *
 * @param is_recorded  the run is recorded where the user wants that
 * @return 0 or <0, printed
 */
int diagnosis_prepare(bool is_recorded);

/** Have the ranks record into a folder, which is made. @return 0 or -errno */
int diagnosis_begin(const char *folder);

/**
 * Make the page, and print what matters most. Waits for that.
 *
 * @param findings  a document of --json
 * @param page      where the page is written
 * @param shown     how the user has named it
 * @return 0 or <0, printed
 */
int diagnosis_end(const char *findings, const char *page, const char *shown);

#endif
