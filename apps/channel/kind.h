/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the hypervisor has put the cores of two ranks, told by the trips of a cache
 * line between the solves, so that only runs of one kind are compared
 * (apps/bench/bcs_kinds.py). Collective, all of it; of other numbers of ranks it does
 * nothing.
 */
#ifndef CHANNEL_KIND_H
#define CHANNEL_KIND_H

#include "apps/bench/line_trip.h"

enum { KIND_LOOKS_MOST = 1001 };

/** The trips of a way. */
struct kind {
    struct line_trip trip;
    double seconds[KIND_LOOKS_MOST];
    int n;
};

/** Prepare; kind_fini in any case. */
void kind_init(struct kind *kind, int rank, int size);

/** Measure a trip, if not so many have been measured that there is no room. */
void kind_look(struct kind *kind);

/** Print what was measured, on rank 0, and forget it. */
void kind_print(struct kind *kind);

/** Give it back. Accepts one that is all zero. */
void kind_fini(struct kind *kind);

#endif
