/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How values are spread: distributions of several ranks, or of several runs, in the
 * buckets of one grid, and what can be said of two of them. Times are in ns here,
 * whatever the ticks of who has recorded them were; each value is taken to be in the
 * middle of its bucket. Pure.
 */
#ifndef MDS_TOOL_ANALYSIS_SPREAD_H
#define MDS_TOOL_ANALYSIS_SPREAD_H

#include "mds/tool/read/run_read.h"

/** A distribution. */
struct spread {
    uint64_t n;       /* values */
    uint64_t *counts; /* [mds_histogram_n(bits)]; NULL as long as there are none */
    uint32_t bits;
};

/** All distributions of a run, each of all its ranks. */
struct spreads {
    uint32_t n;               /* primitives */
    struct spread periods[2]; /* computation, communication */
    struct spread *times;     /* [n] of primitives, in the order of run.names[] */
    struct spread *sizes;     /* [n] their lengths */
};

/**
 * Collect the distributions of a run.
 *
 * @param bits  of the grid that they come to, not more than the run has
 * @param rank  of this one only; -1: of all
 * @return 0        end with spreads_fini
 * @return -ENOMEM
 */
int spreads_of(const struct run *run, uint32_t bits, int64_t rank,
               struct spreads *spreads_out);

/** Free them. Accepts zeroed ones. */
void spreads_fini(struct spreads *spreads);

/** Add values to a distribution, which is zeroed but for bits at first. @return 0 or
 *  -ENOMEM */
int spread_add(struct spread *spread, uint64_t value, uint64_t count);

/** Add one with the same bits. @return 0 or -ENOMEM */
int spread_merge(struct spread *into, const struct spread *from);

/** Free what it has. */
void spread_fini(struct spread *spread);

/** The value below which a part of all is, 0 to 1. @return 0 if there are none */
double spread_quantile(const struct spread *spread, double part);

/** How far one distribution lies above another one. */
struct spread_shift {
    double delta; /* Cliff's: how much more often a value of b is above one of a than
                     below, -1 to 1 */
    double z;     /* of the rank test of Mann and Whitney, with ties: so many standard
                     errors */
};

/** Compare two with the same bits. All 0 if one has no values. */
struct spread_shift spread_compare(const struct spread *a, const struct spread *b);

#endif
