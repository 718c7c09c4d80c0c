/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a process records of its calls, in one piece of memory: written by collect.h,
 * read back by whoever has it.
 */
#ifndef MDS_RECORDING_H
#define MDS_RECORDING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mds/comm_names.h"
#include "mds/events.h"
#include "mds/interval.h"
#include "mds/origin.h"
#include "mds/phases.h"
#include "mds/sites.h"
#include "mds/split.h"

/** What was recorded of one primitive. */
struct mds_primitive {
    struct mds_interval time;
    uint64_t n_sized; /* calls that have a size, */
    uint64_t n_bytes; /* and what they have together */
    struct mds_split split;
};

/** Messages between this process and another one, of the program's own calls. */
struct mds_peer {
    uint64_t n_sent, sent_bytes;
    uint64_t n_received, received_bytes;
    uint64_t
        late_ticks[MDS_N_LATE]; /* this process has waited for it; by enum mds_part */
};

/** What is recorded, which is the same in all processes of a job. */
struct mds_shape {
    uint32_t n_ranks;
    uint32_t bits;     /* of histograms; see histogram.h */
    uint32_t n_events; /* that are kept; 0: none are recorded */
};

/** The distributions of a process. */
enum mds_distribution {
    MDS_DISTRIBUTION_COMPUTATION,   /* of computation granularity, */
    MDS_DISTRIBUTION_COMMUNICATION, /* of communication overhead */
    MDS_DISTRIBUTION_LATENCY,       /* the first of the primitives, in their order */
    MDS_DISTRIBUTION_SIZE = MDS_DISTRIBUTION_LATENCY + MDS_MAX_PRIMITIVES,
    MDS_N_DISTRIBUTIONS = MDS_DISTRIBUTION_SIZE + MDS_MAX_PRIMITIVES,
};

/** Distributions of a process that may have points; those of primitives beyond have
 *  none. */
enum { MDS_POINTED_MOST = 128 };

/** The call that the process is in, or was in last. With several threads, the one that
 *  has begun last. */
struct mds_now {
    uint8_t is_inside;
    uint8_t has_peer;     /* it waits for a message, or sends one: the last one */
    uint16_t site;        /* number in the table */
    uint64_t since_ticks; /* its begin; its end if the process is outside */
    int32_t peer;         /* rank in the job; -1: any */
    int32_t tag;          /* -1: any */
    uint32_t comm;        /* number and 1; 0: none */
};

/** What one process has recorded. Behind it are its tables, in one piece of memory with
 *  it: whoever has that can read it. Made by mmds_start. */
struct mds_collect {
    struct mds_origin origin;
    struct mds_now now;
    struct mds_primitive primitives[MDS_MAX_PRIMITIVES];
    struct mds_sites sites;
    struct mds_comms comms;
    struct mds_phases phases;
    struct mds_interval computation, communication;
    uint64_t instant_ticks; /* of INSTANT primitives */
    uint64_t since_ticks;   /* begin of the computation or communication under way */
    uint32_t n_blocked;     /* threads inside blocking primitives */
    bool is_shared;         /* several threads record: take the lock */
    _Atomic bool is_locked;
    uint64_t start_ticks, stop_ticks; /* of recording ... */
    uint64_t start_ns, stop_ns;       /* ... and the same moments on CLOCK_MONOTONIC */
    uint64_t start_unix_ns;           /* since 1970 */
    uint64_t peak_bytes; /* most memory that was resident, when it has stopped */
    struct mds_shape shape;
    uint32_t n_buckets;                                 /* of a histogram */
    uint64_t has_distribution[MDS_MAX_PRIMITIVES / 64]; /* bits: which have some */
    uint32_t n_pointed;                   /* distributions that have points */
    uint8_t pointed[MDS_N_DISTRIBUTIONS]; /* the place of each and 1; 0: it has none */
    uint64_t n_events; /* entries that there were; shape.n_events are left */
    /* The number of the slice that runs or ran last, for events; NULL: slices are not
     * by the clock, or there are no events. Means nothing in any other process. */
    const uint64_t *slice;
    /* What calls wait for, and when timed slices begin; NULL: calls are not split, or
     * slices are not by the clock. The same. */
    struct bcs_stamps *stamps;
    const struct bcs_slice_begins *begins;
};

_Static_assert(MDS_POINTED_MOST <= UINT8_MAX, "fit pointed");

/** The i-th of the distributions that have points: counts by bucket, [n_buckets]. */
static inline uint64_t *mds_points(struct mds_collect *collect, uint32_t i)
{
    return (uint64_t *)(collect + 1) + (size_t)i * collect->n_buckets;
}

/** A distribution; NULL: it has no points. */
static inline uint64_t *mds_distribution(struct mds_collect *collect, uint32_t number)
{
    return collect->pointed[number] == 0
               ? NULL
               : mds_points(collect, collect->pointed[number] - 1u);
}

/** Messages by rank, [n_ranks]. */
static inline struct mds_peer *mds_peers(struct mds_collect *collect)
{
    return (struct mds_peer *)mds_points(collect, MDS_POINTED_MOST);
}

/** The last events: event i is in entry i modulo shape.n_events. */
static inline struct mds_event *mds_events(struct mds_collect *collect)
{
    return (struct mds_event *)(mds_peers(collect) + collect->shape.n_ranks);
}

#endif
