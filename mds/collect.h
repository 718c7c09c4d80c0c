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

/** What one process has recorded. Owned by mmds.c. */
struct mds_collect {
    struct mds_interval primitives[MDS_MAX_PRIMITIVES];
    struct mds_interval computation, communication;
    uint64_t instant_ticks; /* of INSTANT primitives */
    uint64_t since_ticks;   /* begin of the computation or communication under way */
    uint32_t n_blocked;     /* threads inside blocking primitives */
    bool is_shared;         /* several threads record: take the lock */
    _Atomic bool is_locked;
    uint64_t start_ticks, stop_ticks; /* of recording ... */
    uint64_t start_ns, stop_ns;       /* ... and the same moments on CLOCK_MONOTONIC */
};

#pragma GCC visibility push(hidden)

/** Depth of calls in calls of this thread: only the outermost is recorded. */
extern _Thread_local uint32_t mds_depth __attribute__((tls_model("initial-exec")));

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

/** Add one interval from began to ended; one that runs backwards counts as empty. */
static inline void mds_interval_add(struct mds_interval *interval, uint64_t began,
                                    uint64_t ended)
{
    uint64_t ticks = ended > began ? ended - began : 0;

    if (interval->count == 0 || ticks < interval->min_ticks) {
        interval->min_ticks = ticks;
    }
    if (ticks > interval->max_ticks) {
        interval->max_ticks = ticks;
    }
    interval->count++;
    interval->total_ticks += ticks;
}

/**
 * End the computation or communication under way at now, and begin the other. Cores'
 * counters may differ by some ticks: a stamp before the last one is moved there, so
 * that no tick is counted twice. Inside mds_lock.
 */
static inline void mds_switch(struct mds_collect *collect, struct mds_interval *ended,
                              uint64_t now)
{
    if (now < collect->since_ticks) {
        now = collect->since_ticks;
    }
    mds_interval_add(ended, collect->since_ticks, now);
    collect->since_ticks = now;
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

    if (collect == NULL || mds_depth++ > 0) {
        return 0;
    }
    if (timing != MDS_BLOCKING) {
        return bcs_clock_ticks();
    }
    mds_lock(collect);
    now = bcs_clock_ticks();
    if (collect->n_blocked++ == 0) {
        mds_switch(collect, &collect->computation, now);
    }
    mds_unlock(collect);
    return now;
}

/** The primitive that began at began ends. Same collect and timing as for mds_begin. */
static inline void mds_end(struct mds_collect *collect, uint32_t primitive,
                           enum mds_timing timing, uint64_t began)
{
    uint64_t now;

    if (collect == NULL || --mds_depth > 0) {
        return;
    }
    mds_lock(collect);
    now = bcs_clock_ticks();
    mds_interval_add(&collect->primitives[primitive], began, now);
    if (timing != MDS_BLOCKING) {
        collect->instant_ticks += now > began ? now - began : 0;
    } else if (--collect->n_blocked == 0) {
        mds_switch(collect, &collect->communication, now);
    }
    mds_unlock(collect);
}

#endif
