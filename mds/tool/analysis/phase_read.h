/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The phases of a run, as its program has named them by MPI_Pcontrol, of all ranks
 * together.
 */
#ifndef MDS_TOOL_ANALYSIS_PHASE_READ_H
#define MDS_TOOL_ANALYSIS_PHASE_READ_H

#include "mds/tool/read/run_read.h"

/** Print them by level, if there is more than one. @return 0 or -ENOMEM
 *  @param rank  of this rank only; -1: of all */
int phases_print(const struct run *run, int64_t rank);

#endif
