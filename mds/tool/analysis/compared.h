/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One side of a comparison: a run, or several of one kind. One thread.
 */
#ifndef MDS_TOOL_ANALYSIS_COMPARED_H
#define MDS_TOOL_ANALYSIS_COMPARED_H

#include "mds/tool/analysis/spread.h"

/** A side. */
struct side {
    const char *path;
    uint32_t n_runs, n_left_out; /* folders of runs that have no process's file */
    struct run *runs;            /* [n_runs] */
    struct spreads *spreads;     /* [n_runs] of each; made by side_spread */
    char **folders;              /* [n_runs] where they are */
};

/**
 * Read a side.
 *
 * @param path  the folder of a run, or one that has such folders in it
 * @return 0   end with side_fini
 * @return <0  error_out says what is wrong
 */
int side_read(const char *path, struct side *side_out,
              char error_out[DUMP_ERROR_BYTES]);

/** Collect the distributions of all runs, on a grid of so many bits. @return 0 or -ENOMEM */
int side_spread(struct side *side, uint32_t bits);

/** Free what it has. Accepts a zeroed one. */
void side_fini(struct side *side);

#endif
