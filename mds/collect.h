/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recording for the Monitoring and Debugging System: the one small header that every
 * layer may include. A call is bracketed by mds_begin and mds_end in the process that
 * makes it, by whatever thread makes it; nothing is allocated or printed here. Whoever
 * brackets holds the place to record to; NULL with BCS_MDS=off, and a bracket then costs one
 * predictable branch.
 *
 * Blocking calls delimit the computation granularity: the time between the end of one
 * and the begin of the next is a computation point (whatever non-blocking calls it
 * holds), the time inside is a communication point. One time stamp ends the one and
 * begins the other, so nothing is lost between them. With several threads the process
 * communicates while at least one of them is inside a blocking call. [BCS-MPI 5.1.1]
 */
#ifndef MDS_COLLECT_H
#define MDS_COLLECT_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libbcs/base/clock.h"
#include "mds/histogram.h"

/** Primitives are numbered by whoever records them, from 0 to this. */
#define MDS_MAX_PRIMITIVES 256

/** What the time inside a call is. */
enum mds_timing {
    MDS_UNTIMED,  /* not recorded */
    MDS_INSTANT,  /* recorded; part of the computation that surrounds it */
    MDS_BLOCKING, /* recorded; communication */
};

/** Statistics of one kind of interval, in ticks of bcs_clock_ticks. */
struct mds_interval {
    uint64_t count;
    uint64_t min_ticks, max_ticks, total_ticks;
};

/** What was recorded of one primitive. */
struct mds_primitive {
    struct mds_interval time;
    uint64_t n_sized; /* calls that have a size, */
    uint64_t n_bytes; /* and what they have together */
};

/** Messages between this process and another one, of the program's own calls. */
struct mds_peer {
    uint64_t n_sent, sent_bytes;
    uint64_t n_received, received_bytes;
};

/** What is recorded, which is the same in all processes of a job. */
struct mds_shape {
    uint32_t n_ranks;
    uint32_t bits; /* of histograms; see histogram.h */
};

/** The distributions of a process. */
enum mds_distribution {
    MDS_DISTRIBUTION_COMPUTATION,   /* of computation granularity, */
    MDS_DISTRIBUTION_COMMUNICATION, /* of communication overhead */
    MDS_DISTRIBUTION_LATENCY,       /* the first of the primitives, in their order */
    MDS_DISTRIBUTION_SIZE = MDS_DISTRIBUTION_LATENCY + MDS_MAX_PRIMITIVES,
    MDS_N_DISTRIBUTIONS = MDS_DISTRIBUTION_SIZE + MDS_MAX_PRIMITIVES,
};

/** What one process has recorded. Behind it are its tables, in one piece of memory with it:
 *  whoever has that can read it. Made by mds_collect_init. */
struct mds_collect {
    struct mds_primitive primitives[MDS_MAX_PRIMITIVES];
    struct mds_interval computation, communication;
    uint64_t instant_ticks; /* of INSTANT primitives */
    uint64_t since_ticks;   /* begin of the computation or communication under way */
    uint32_t n_blocked;     /* threads inside blocking primitives */
    bool is_shared;         /* several threads record: take the lock */
    _Atomic bool is_locked;
    uint64_t start_ticks, stop_ticks; /* of recording ... */
    uint64_t start_ns, stop_ns;       /* ... and the same moments on CLOCK_MONOTONIC */
    struct mds_shape shape;
    uint32_t n_buckets; /* of a histogram */
    uint64_t
        has_distribution[MDS_MAX_PRIMITIVES / 64]; /* bits: primitives that have some */
};

/** A distribution: counts by bucket, [n_buckets]. */
static inline uint64_t *mds_distribution(struct mds_collect *collect, uint32_t number)
{
    return (uint64_t *)(collect + 1) + (size_t)number * collect->n_buckets;
}

/** Messages by rank, [n_ranks]. */
static inline struct mds_peer *mds_peers(struct mds_collect *collect)
{
    return (struct mds_peer *)mds_distribution(collect, MDS_N_DISTRIBUTIONS);
}

/** What a thread is doing. */
struct mds_call {
    uint32_t depth;   /* of calls in calls: only the outermost is recorded */
    bool has_size;    /* the call under way has one, */
    uint64_t n_bytes; /* which is so many bytes */
};

#pragma GCC visibility push(hidden)

/** This thread's. */
extern _Thread_local struct mds_call mds_call
    __attribute__((tls_model("initial-exec")));

#pragma GCC visibility pop

/** Enter the short section in which collect is changed; free with one thread. */
static inline void mds_lock(struct mds_collect *collect)
{
    if (collect->is_shared) {
        /* acquire: pairs with the release in mds_unlock of the thread before us */
        while (
            atomic_exchange_explicit(&collect->is_locked, true, memory_order_acquire)) {
            sched_yield();
        }
    }
}

/** Leave the section of mds_lock. */
static inline void mds_unlock(struct mds_collect *collect)
{
    if (collect->is_shared) {
        /* release: pairs with the acquire in mds_lock of the thread after us */
        atomic_store_explicit(&collect->is_locked, false, memory_order_release);
    }
}

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

/** Count a value in a distribution. Inside mds_lock. */
static inline void mds_distribution_add(struct mds_collect *collect, uint32_t number,
                                        uint64_t value)
{
    mds_distribution(collect,
                     number)[mds_histogram_bucket(value, collect->shape.bits)]++;
}

/**
 * End the computation or communication under way at now, and begin the other. Cores'
 * counters may differ by some ticks: a stamp before the last one is moved there, so
 * that no tick is counted twice. Inside mds_lock.
 */
static inline void mds_switch(struct mds_collect *collect, bool is_communication,
                              uint64_t now)
{
    uint64_t ticks = now > collect->since_ticks ? now - collect->since_ticks : 0;

    mds_interval_add(is_communication ? &collect->communication : &collect->computation,
                     ticks);
    mds_distribution_add(collect,
                         is_communication ? MDS_DISTRIBUTION_COMMUNICATION
                                          : MDS_DISTRIBUTION_COMPUTATION,
                         ticks);
    collect->since_ticks += ticks;
}

/** The call that is under way has a size, or has so many bytes more. */
static inline void mds_size_add(uint64_t n_bytes)
{
    mds_call.has_size = true;
    mds_call.n_bytes += n_bytes;
}

/** The program sends a message to a process. */
static inline void mds_sent(struct mds_collect *collect, uint32_t rank,
                            uint64_t n_bytes)
{
    struct mds_peer *peer = &mds_peers(collect)[rank];

    mds_lock(collect);
    peer->n_sent++;
    peer->sent_bytes += n_bytes;
    mds_unlock(collect);
}

/** The program has received one. */
static inline void mds_received(struct mds_collect *collect, uint32_t rank,
                                uint64_t n_bytes)
{
    struct mds_peer *peer = &mds_peers(collect)[rank];

    mds_lock(collect);
    peer->n_received++;
    peer->received_bytes += n_bytes;
    mds_unlock(collect);
}

/**
 * A primitive begins. collect is where to record, which the caller keeps for the end (so that
 * both agree while recording stops); NULL does nothing.
 *
 * @return the time stamp to hand to mds_end
 */
static inline uint64_t mds_begin(struct mds_collect *collect, enum mds_timing timing)
{
    uint64_t now;

    if (collect == NULL || mds_call.depth++ > 0) {
        return 0;
    }
    mds_call.has_size = false;
    mds_call.n_bytes = 0;
    if (timing != MDS_BLOCKING) {
        return bcs_clock_ticks();
    }
    mds_lock(collect);
    now = bcs_clock_ticks();
    if (collect->n_blocked++ == 0) {
        mds_switch(collect, false, now);
    }
    mds_unlock(collect);
    return now;
}

/** Count a call that has taken so long, with its size if it has one. Inside mds_lock. */
static inline void mds_count(struct mds_collect *collect, uint32_t primitive,
                             uint64_t ticks)
{
    struct mds_primitive *mine = &collect->primitives[primitive];
    bool is_distributed =
        collect->has_distribution[primitive / 64] >> primitive % 64 & 1;

    mds_interval_add(&mine->time, ticks);
    if (is_distributed) {
        mds_distribution_add(collect, MDS_DISTRIBUTION_LATENCY + primitive, ticks);
    }
    if (mds_call.has_size) {
        mine->n_sized++;
        mine->n_bytes += mds_call.n_bytes;
        if (is_distributed) {
            mds_distribution_add(collect, MDS_DISTRIBUTION_SIZE + primitive,
                                 mds_call.n_bytes);
        }
    }
}

/** The primitive that began at began ends. Same collect and timing as for mds_begin. A stamp
 *  before began counts as began. */
static inline void mds_end(struct mds_collect *collect, uint32_t primitive,
                           enum mds_timing timing, uint64_t began)
{
    uint64_t now, ticks;

    if (collect == NULL || --mds_call.depth > 0) {
        return;
    }
    mds_lock(collect);
    now = bcs_clock_ticks();
    ticks = now > began ? now - began : 0;
    mds_count(collect, primitive, ticks);
    if (timing != MDS_BLOCKING) {
        collect->instant_ticks += ticks;
    } else if (--collect->n_blocked == 0) {
        mds_switch(collect, true, now);
    }
    mds_unlock(collect);
}

#endif
