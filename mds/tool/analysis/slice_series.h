/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One metric against slice numbers, of one node or of all together, at most so many
 * points.
 */
#ifndef MDS_TOOL_ANALYSIS_SLICE_SERIES_H
#define MDS_TOOL_ANALYSIS_SLICE_SERIES_H

#include "mds/tool/read/run_read.h"

/** One metric of a run. */
struct series {
    struct bcs_span
        *spans; /* [n] by number; the metric is the first of each one's tallies */
    size_t n;
    uint64_t shift;    /* each is of 2^shift slices, or intervals */
    uint64_t interval; /* ns; 0: slices are by the clock */
    bool is_time;      /* in ns */
    uint32_t n_files;  /* nodes that it is of */
    bool is_unended;   /* of a run that has not ended */
};

/**
 * Find a metric.
 *
 * @param node    of this node only; -1: of all
 * @param n_most points; if there are more, neighbours are put together until there are
 * not
 * @return 0        end with series_fini; n_files is 0 if no file has the metric
 * @return -ENOMEM
 */
int series_of(const struct run *run, const char *metric, int64_t node, size_t n_most,
              struct series *series_out);

/** Free it. Accepts a zeroed one. */
void series_fini(struct series *series);

/** What all slices of a run came to. */
struct emds_summary series_summary(const struct run *run);

#endif
