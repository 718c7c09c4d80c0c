/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of bcs-mds check that is about slices. Prints a line for each finding.
 */
#ifndef MDS_TOOL_ANALYSIS_CHECK_SLICES_H
#define MDS_TOOL_ANALYSIS_CHECK_SLICES_H

#include "mds/tool/read/run_read.h"

/** Check the slices of a run. @return number of findings */
int check_slices(const struct run *run);

#endif
