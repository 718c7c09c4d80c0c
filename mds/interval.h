/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Statistics of one kind of interval: how often, and the least, the most and the sum of
 * their lengths, in ticks. Pure.
 */
#ifndef MDS_INTERVAL_H
#define MDS_INTERVAL_H

#include <stdint.h>

/** Statistics of one kind of interval, in ticks of bcs_clock_ticks. */
struct mds_interval {
    uint64_t count;
    uint64_t min_ticks, max_ticks, total_ticks;
};

/** Add one interval. */
static inline void mds_interval_add(struct mds_interval *interval, uint64_t ticks)
{
    if (interval->count == 0 || ticks < interval->min_ticks) {
        interval->min_ticks = ticks;
    }
    if (ticks > interval->max_ticks) {
        interval->max_ticks = ticks;
    }
    interval->count++;
    interval->total_ticks += ticks;
}

#endif
