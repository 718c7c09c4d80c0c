/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pages about a run in HTML, with all drawings in them. Whatever a run names is text
 * there. One thread.
 */
#ifndef MDS_TOOL_REPORT_REPORT_PAGE_H
#define MDS_TOOL_REPORT_REPORT_PAGE_H

#include <stdio.h>

#include "mds/tool/read/run_read.h"

/** Begin a page, with its title. */
void report_page_begin(FILE *out, const char *title);

/** End it. */
void report_page_end(FILE *out);

/** Print the sections about what was recorded. @return 0 or -ENOMEM */
int report_page_print(FILE *out, const struct run *run);

#endif
