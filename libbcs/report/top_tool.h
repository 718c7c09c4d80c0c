/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where bcs-top is, which processes of a job run to have something told that takes
 * libdw or Jansson.
 */
#ifndef LIBBCS_REPORT_TOP_TOOL_H
#define LIBBCS_REPORT_TOP_TOOL_H

enum { BCS_TOP_TOOL_BYTES = 4096 };

/** Find bcs-top, that of this installation or build. @return path_out, or its name
 *  alone, which the shell would find */
const char *bcs_top_tool_find(char path_out[static BCS_TOP_TOOL_BYTES]);

/** The environment without what is preloaded. @return for free, as the list is, not its
 *  texts; NULL: no memory */
char **bcs_top_tool_environment(void);

#endif
