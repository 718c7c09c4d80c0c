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
#include "mds/comms.h"
#include "mds/events.h"
#include "mds/histogram.h"
#include "mds/interval.h"
#include "mds/origin.h"
#include "mds/phases.h"
#include "mds/sites.h"

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

/** Distributions of a process that may have points; those of primitives beyond have none. */
enum { MDS_POINTED_MOST = 128 };

/** The call that the process is in, or was in last. With several threads, the one that has begun
 *  last. */
struct mds_now {
    uint8_t is_inside;
    uint8_t has_peer;     /* it waits for a message, or sends one: the last one */
    uint16_t site;        /* number in the table */
    uint64_t since_ticks; /* its begin; its end if the process is outside */
    int32_t peer;         /* rank in the job; -1: any */
    int32_t tag;          /* -1: any */
    uint32_t comm;        /* number and 1; 0: none */
};

/** What one process has recorded. Behind it are its tables, in one piece of memory with it:
 *  whoever has that can read it. Made by mmds_start. */
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
    /* The number of the slice that runs or ran last, for events; NULL: slices are not by the clock,
     * or there are no events. Means nothing in any other process. */
    const uint64_t *slice;
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

/** What a thread is doing. */
struct mds_call {
    uint32_t depth;        /* of calls in calls: only the outermost is recorded */
    bool has_size;         /* the call under way has one, */
    uint64_t n_bytes;      /* which is so many bytes */
    uintptr_t address;     /* where the outermost call returns to */
    struct mds_site *site; /* that of the call under way */
    uint32_t n_messages;   /* that it has sent or got */
    int32_t peer, tag;     /* of the first of them, */
    uint64_t first_bytes;  /* which is so long */
    uint32_t comm;         /* of that, or of a collective: number and 1; 0: none */
    uint32_t kind;         /* bits of enum mds_event_kind */
    uint64_t first_slice;  /* when it began; see mds_slice */
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

/** Count a value in a distribution. Inside mds_lock. */
static inline void mds_distribution_add(struct mds_collect *collect, uint32_t number,
                                        uint64_t value)
{
    if (__builtin_expect(collect->pointed[number] == 0, 0)) {
        if (collect->n_pointed == MDS_POINTED_MOST) {
            return;
        }
        collect->pointed[number] = (uint8_t)++collect->n_pointed;
    }
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

/** A message of the program's. */
struct mds_message {
    uint32_t rank; /* of the other end, in the job */
    int32_t tag;
    uint32_t comm; /* number of the communicator */
    uint64_t n_bytes;
};

/** The next entry of the ring of events. Inside mds_lock, while events are recorded. */
static inline struct mds_event *mds_event_next(struct mds_collect *collect)
{
    return &mds_events(collect)[collect->n_events++ % collect->shape.n_events];
}

/** The call under way sends a message, or one has arrived in it. Inside mds_lock. */
static inline void mds_call_message(struct mds_collect *collect,
                                    const struct mds_message *message,
                                    enum mds_event_kind kind)
{
    if (mds_call.n_messages++ == 0) {
        mds_call.peer = (int32_t)message->rank;
        mds_call.tag = message->tag;
        mds_call.first_bytes = message->n_bytes;
        mds_call.comm = message->comm + 1;
        mds_call.kind = kind;
    } else if (collect->shape.n_events > 0) {
        *mds_event_next(collect) = (struct mds_event){
            .n_bytes = message->n_bytes,
            .peer = (int32_t)message->rank,
            .tag = message->tag,
            .comm = message->comm + 1,
            .kind = MDS_EVENT_MESSAGE | kind,
        };
    }
}

/** The program sends a message to a process. */
static inline void mds_sent(struct mds_collect *collect,
                            const struct mds_message *message)
{
    struct mds_peer *peer = &mds_peers(collect)[message->rank];
    struct mds_comm *comm = &collect->comms.table[message->comm];

    mds_lock(collect);
    mds_call_message(collect, message, MDS_EVENT_SENT);
    peer->n_sent++;
    peer->sent_bytes += message->n_bytes;
    comm->n_sent++;
    comm->sent_bytes += message->n_bytes;
    mds_unlock(collect);
}

/** The program has received one. */
static inline void mds_received(struct mds_collect *collect,
                                const struct mds_message *message)
{
    struct mds_peer *peer = &mds_peers(collect)[message->rank];
    struct mds_comm *comm = &collect->comms.table[message->comm];

    mds_lock(collect);
    mds_call_message(collect, message, MDS_EVENT_RECEIVED);
    peer->n_received++;
    peer->received_bytes += message->n_bytes;
    comm->n_received++;
    comm->received_bytes += message->n_bytes;
    mds_unlock(collect);
}

/** The program starts a collective. */
static inline void mds_collective(struct mds_collect *collect, uint32_t comm,
                                  uint64_t n_bytes)
{
    mds_lock(collect);
    mds_call.comm = comm + 1;
    mds_call.tag = (int32_t)collect->comms.table[comm].n_collectives;
    mds_call.kind = MDS_EVENT_COLLECTIVE;
    collect->comms.table[comm].n_collectives++;
    collect->comms.table[comm].collective_bytes += n_bytes;
    mds_unlock(collect);
}

/** The number of a communicator that is recorded for the first time. */
static inline uint32_t mds_comm_number(struct mds_collect *collect, uint64_t id,
                                       uint32_t n_ranks)
{
    uint32_t number;

    mds_lock(collect);
    number = mds_comms_take(&collect->comms, id, n_ranks);
    mds_unlock(collect);
    return number;
}

/** The phase under way ends at now, for a while at least. Inside mds_lock. */
static inline void mds_phase_end(struct mds_collect *collect, uint64_t now)
{
    struct mds_phases *phases = &collect->phases;
    struct mds_phase *phase = &phases->table[phases->now];

    phase->ticks += now > phases->since_ticks ? now - phases->since_ticks : 0;
    phase->blocked += collect->communication.total_ticks - phases->blocked;
    phase->instant += collect->instant_ticks - phases->instant;
    phases->since_ticks = now;
    phases->blocked = collect->communication.total_ticks;
    phases->instant = collect->instant_ticks;
}

/** The program goes on in a phase. */
static inline void mds_phase_begin(struct mds_collect *collect, int32_t level)
{
    uint32_t number;

    mds_lock(collect);
    mds_phase_end(collect, bcs_clock_ticks());
    number = mds_phases_find(&collect->phases, level);
    collect->phases.table[number].n += number != collect->phases.now;
    collect->phases.now = number;
    mds_unlock(collect);
}

/** The process is in a call from now on. Threads overwrite each other's. Inside mds_lock. */
static inline void mds_go_in(struct mds_collect *collect, uint32_t primitive,
                             uint64_t ticks)
{
    struct mds_site *site =
        mds_sites_find(&collect->sites, mds_call.address, primitive);

    mds_call.site = site;
    collect->now = (struct mds_now){
        .is_inside = true,
        .site = (uint16_t)(site - collect->sites.table),
        .since_ticks = ticks,
    };
}

/** The program calls, and goes on at an address. Before mds_begin; calls in calls do nothing. */
static inline void mds_call_from(const void *address)
{
    if (mds_call.depth == 0) {
        mds_call.address = (uintptr_t)address;
    }
}

/** The call under way is about messages with a process, or waits for one. peer and tag: -1 is
 *  any. */
static inline void mds_call_with(struct mds_collect *collect, int32_t peer, int32_t tag,
                                 uint32_t comm)
{
    mds_lock(collect);
    collect->now.has_peer = true;
    collect->now.peer = peer;
    collect->now.tag = tag;
    collect->now.comm = comm + 1;
    mds_unlock(collect);
}

/** The call under way is about a communicator. */
static inline void mds_call_on(struct mds_collect *collect, uint32_t comm)
{
    mds_lock(collect);
    collect->now.comm = comm + 1;
    mds_unlock(collect);
}

/** The number of the slice that runs or ran last; 0: none has begun, or there are no numbers. */
static inline uint64_t mds_slice(const struct mds_collect *collect)
{
    /* relaxed: a number alone; stored by open_slice of nic_threads/roles/strobe_receiver.c */
    return __builtin_expect(collect->slice == NULL, 1)
               ? 0
               : __atomic_load_n(collect->slice, __ATOMIC_RELAXED);
}

/**
 * A primitive begins. collect is where to record, which the caller keeps for the end (so that
 * both agree while recording stops); NULL does nothing.
 *
 * @return the time stamp to hand to mds_end
 */
static inline uint64_t mds_begin(struct mds_collect *collect, uint32_t primitive,
                                 enum mds_timing timing)
{
    uint64_t now;

    if (collect == NULL || mds_call.depth++ > 0) {
        return 0;
    }
    mds_call.has_size = false;
    mds_call.n_bytes = 0;
    mds_call.n_messages = 0;
    mds_call.comm = 0;
    mds_call.kind = 0;
    mds_call.first_slice = mds_slice(collect);
    mds_lock(collect);
    now = bcs_clock_ticks();
    if (timing == MDS_BLOCKING && collect->n_blocked++ == 0) {
        mds_switch(collect, false, now);
    }
    mds_go_in(collect, primitive, now);
    mds_unlock(collect);
    return now;
}

/** Count a call that has taken so long, with its size if it has one. Inside mds_lock. */
static inline void mds_count(struct mds_collect *collect, uint32_t primitive,
                             uint64_t ticks)
{
    struct mds_primitive *mine = &collect->primitives[primitive];
    struct mds_site *site = mds_call.site;
    bool is_distributed =
        collect->has_distribution[primitive / 64] >> primitive % 64 & 1;

    mds_interval_add(&mine->time, ticks);
    mds_interval_add(&site->time, ticks);
    if (is_distributed) {
        mds_distribution_add(collect, MDS_DISTRIBUTION_LATENCY + primitive, ticks);
    }
    if (mds_call.has_size) {
        mine->n_sized++;
        mine->n_bytes += mds_call.n_bytes;
        site->n_bytes += mds_call.n_bytes;
        if (is_distributed) {
            mds_distribution_add(collect, MDS_DISTRIBUTION_SIZE + primitive,
                                 mds_call.n_bytes);
        }
    }
}

/** Keep the call that ends. Inside mds_lock, while events are recorded. */
static inline void mds_event_add(struct mds_collect *collect, uint64_t began,
                                 uint64_t ticks)
{
    *mds_event_next(collect) = (struct mds_event){
        .begin_ticks = began,
        .end_ticks = began + ticks,
        .n_bytes = mds_call.n_bytes,
        .peer = mds_call.peer,
        .tag = mds_call.tag,
        .comm = mds_call.comm,
        .n_messages = mds_call.n_messages,
        .first_bytes = mds_call.n_messages > 0 ? mds_call.first_bytes : 0,
        .site = (uint32_t)(mds_call.site - collect->sites.table),
        .kind = mds_call.kind,
        .first_slice = mds_call.first_slice,
        .slice = mds_slice(collect),
    };
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
    if (collect->shape.n_events > 0) {
        mds_event_add(collect, began, ticks);
    }
    collect->now.is_inside = false;
    collect->now.since_ticks = now;
    if (timing != MDS_BLOCKING) {
        collect->instant_ticks += ticks;
    } else if (--collect->n_blocked == 0) {
        mds_switch(collect, true, now);
    }
    mds_unlock(collect);
}

#endif
