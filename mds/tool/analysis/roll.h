/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The roll-call of a run that has not ended: where its ranks stand, or stood when they
 * were ended.
 */
#ifndef MDS_TOOL_ANALYSIS_ROLL_H
#define MDS_TOOL_ANALYSIS_ROLL_H

#include "mds/tool/read/run_read.h"

/** Print where the ranks that have not ended stand, those at the same place in one
 *  line; nothing if all have. @return 0 or -ENOMEM */
int roll_print(const struct run *run);

#endif
