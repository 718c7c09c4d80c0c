/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of bcs-mds check that is about what a user expects of timed slices: that
 * they begin on the grid of the clock, and that something comes every so many of them:
 * assumptions 1 to 3 of [BCS-MPI section 5.3]. Prints a line for each file that can
 * tell.
 */
#ifndef MDS_TOOL_ANALYSIS_CHECK_RHYTHM_H
#define MDS_TOOL_ANALYSIS_CHECK_RHYTHM_H

#include "mds/tool/read/run_read.h"

/** What is expected of a metric. */
struct rhythm {
    const char *metric;
    int64_t n_slices; /* from one slice in which it is not 0 to the next such one */
};

/**
 * Whether a metric of nodes, or of all, has the rhythm, but for 1 % of its gaps. Slices
 * are counted by the clock, so that points at which nobody needed a strobe count, too.
 *
 * @return number of findings; one if no file can tell
 */
int check_rhythm(const struct run *run, const struct rhythm *rhythm);

/**
 * Whether slices begin whole multiples of BCS_SLICE after the one before, but for 1 %
 * of them.
 *
 * @param most_us  how far from a multiple a slice may begin
 * @return number of findings; one if no file can tell
 */
int check_grid(const struct run *run, int64_t most_us);

#endif
