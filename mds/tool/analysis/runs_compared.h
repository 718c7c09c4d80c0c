/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is compared with something else: a run, or several of one kind. One thread.
 */
#ifndef MDS_TOOL_ANALYSIS_RUNS_COMPARED_H
#define MDS_TOOL_ANALYSIS_RUNS_COMPARED_H

#include "mds/tool/analysis/spread.h"

/** A run, or several. */
struct runs_compared {
    const char *path;
    uint32_t n_runs, n_left_out; /* folders of runs that have no process's file */
    struct run *runs;            /* [n_runs] */
    struct spreads *spreads;     /* [n_runs] of each; made by runs_compared_spread */
    char **folders;              /* [n_runs] where they are */
};

/**
 * Read them.
 *
 * @param path  the folder of a run, or one that has such folders in it
 * @return 0   end with runs_compared_fini
 * @return <0  error_out says what is wrong
 */
int runs_compared_read(const char *path, struct runs_compared *runs_out,
                       char error_out[DUMP_ERROR_BYTES]);

/** Collect the distributions of all runs, on a grid of so many bits. @return 0 or
 *  -ENOMEM */
int runs_compared_spread(struct runs_compared *side, uint32_t bits);

/** Free what it has. Accepts a zeroed one. */
void runs_compared_fini(struct runs_compared *side);

#endif
