/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which waits are at the root of others. A rank that others wait for may itself have
 * waited for a third one meanwhile: for so long that wait was to blame, or what that
 * third rank waited for then. Pure.
 */
#ifndef MDS_TOOL_ANALYSIS_DELAY_H
#define MDS_TOOL_ANALYSIS_DELAY_H

#include <stddef.h>
#include <stdint.h>

/** A time in which a rank has waited for another one. */
struct delay {
    uint32_t waiting, late; /* ranks, numbered from 0 */
    uint64_t begin_ns, end_ns;
    uint64_t
        root_ns; /* of this and of other delays, for how long the rank that is late here
                  * was waited for while it did not wait: found by delays_find_roots */
    size_t id;   /* the caller's */
};

/**
 * Find what is at the root of delays. They are put in another order, and shortened
 * where a rank has two at the same time: threads. What they come to then is the sum of
 * root_ns.
 *
 * @param n_ranks  all numbers are below it
 * @return 0 or -ENOMEM
 */
int delays_find_roots(struct delay *delays, size_t n, uint32_t n_ranks);

#endif
