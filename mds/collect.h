/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recording for the Monitoring and Debugging System: the one small header that every
 * layer may include. A call is bracketed by mds_begin and mds_end in the process that
 * makes it, by whatever thread makes it; nothing is allocated or printed here. Whoever
 * brackets holds the place to record to; NULL with BCS_MDS=off, and a bracket then
 * costs one predictable branch.
 *
 * Blocking calls delimit the computation granularity: the time between the end of one
 * and the begin of the next is a computation point (whatever non-blocking calls it
 * holds), the time inside is a communication point. One time stamp ends the one and
 * begins the other, so nothing is lost between them. With several threads the process
 * communicates while at least one of them is inside a blocking call. [BCS-MPI 5.1.1]
 */
#ifndef MDS_COLLECT_H
#define MDS_COLLECT_H

#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/base/system.h"
#include "mds/call.h"
#include "mds/histogram.h"
#include "mds/recording.h"

/** Enter the short section in which collect is changed; free with one thread. */
static inline void mds_lock(struct mds_collect *collect)
{
    if (collect->is_shared) {
        /* acquire: pairs with the release in mds_unlock of the thread before us */
        while (
            atomic_exchange_explicit(&collect->is_locked, true, memory_order_acquire)) {
            bcs_yield();
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

/** The same of a call that may be in another one, which its bytes are no part of. After
 *  mds_begin. */
static inline void mds_size_add_outermost(uint64_t n_bytes)
{
    if (mds_call.depth == 1) {
        mds_size_add(n_bytes);
    }
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

/** The program has taken one back that it had sent: nobody receives it. Its event
 *  stays. */
static inline void mds_taken_back(struct mds_collect *collect,
                                  const struct mds_message *message)
{
    struct mds_peer *peer = &mds_peers(collect)[message->rank];
    struct mds_comm *comm = &collect->comms.table[message->comm];

    mds_lock(collect);
    peer->n_sent--;
    peer->sent_bytes -= message->n_bytes;
    comm->n_sent--;
    comm->sent_bytes -= message->n_bytes;
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

/** The process is in a call from now on. Threads overwrite each other's, but a thread
 *  beside them does not. Inside mds_lock. */
static inline void mds_go_in(struct mds_collect *collect, uint32_t primitive,
                             enum mds_timing timing, uint64_t ticks)
{
    struct mds_site *site =
        mds_sites_find(&collect->sites, mds_call.address, mds_call.words, primitive);

    mds_call.site = site;
    if (timing == MDS_BESIDE) {
        return;
    }
    collect->now = (struct mds_now){
        .is_inside = true,
        .site = (uint16_t)(site - collect->sites.table),
        .since_ticks = ticks,
    };
}

/** The program calls, and goes on at an address. Before mds_begin; calls in calls do
 *  nothing. */
static inline void mds_call_from(const void *address)
{
    if (mds_call.depth == 0) {
        mds_call.address = (uintptr_t)address;
    }
}

/** The call under way is about messages with a process, or waits for one. peer and tag:
 *  -1 is any. */
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

/** The number of the slice that runs or ran last; 0: none has begun, or there are no
 *  numbers. */
static inline uint64_t mds_slice(const struct mds_collect *collect)
{
    /* relaxed: a number alone; stored by open_slice of
     * nic_threads/roles/strobe_receiver.c */
    return __builtin_expect(collect->slice == NULL, 1)
               ? 0
               : __atomic_load_n(collect->slice, __ATOMIC_RELAXED);
}

/**
 * A primitive begins. collect is where to record, which the caller keeps for the end
 * (so that both agree while recording stops); NULL does nothing.
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
    mds_go_in(collect, primitive, timing, now);
    if (collect->stamps != NULL) {
        bcs_stamps_begin(collect->stamps, now);
    }
    mds_unlock(collect);
    return now;
}

/** Count a call that has taken so long, with its size if it has one. Inside
 *  mds_lock. */
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

/** What a call that ends was late for, by the cause of its latest stamp. A collective
 *  may consist of messages. */
static inline enum mds_part mds_late_part(const struct bcs_stamps *stamps)
{
    if ((mds_call.kind & MDS_EVENT_COLLECTIVE) != 0 ||
        stamps->cause == BCS_STAMP_CAUSE_COLLECTIVE) {
        return MDS_PART_COLLECTIVE;
    }
    return stamps->cause == BCS_STAMP_CAUSE_RECEIVER ? MDS_PART_RECEIVER
                                                     : MDS_PART_SENDER;
}

/** Split the time of a blocking call that ends. It is known what it has waited for if
 *  there was a stamp, or if it was about messages that had none to wait for. Inside
 *  mds_lock. */
static inline void mds_split_end(struct mds_collect *collect, uint32_t primitive,
                                 uint64_t began, uint64_t ticks)
{
    const struct bcs_stamps *stamps =
        collect->stamps != NULL ? collect->stamps : mds_call.stamps;
    struct mds_split_facts facts = {.began = began, .ticks = ticks};
    struct mds_split_call call;

    if (stamps != NULL) {
        facts.latest = stamps->latest;
        facts.part = mds_late_part(stamps);
        facts.rank = stamps->rank;
        facts.begins = collect->begins;
        facts.is_known = !stamps->is_blind &&
                         (stamps->latest != BCS_STAMP_NONE || mds_call.kind != 0);
    }
    mds_call.stamps = NULL;
    call = mds_split_of(&facts);
    mds_split_add(&collect->primitives[primitive].split, &call.split);
    mds_split_add(&mds_call.site->split, &call.split);
    if (call.late > 0 && call.rank < collect->shape.n_ranks) {
        mds_peers(collect)[call.rank].late_ticks[call.part] += call.late;
        mds_fault_add(&mds_call.site->fault, call.rank, call.late);
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

/** The process is out of a call that has taken so long. Inside mds_lock. */
static inline void mds_go_out(struct mds_collect *collect, enum mds_timing timing,
                              uint64_t now, uint64_t ticks)
{
    if (timing == MDS_BESIDE) {
        return;
    }
    collect->now.is_inside = false;
    collect->now.since_ticks = now;
    if (timing != MDS_BLOCKING) {
        collect->instant_ticks += ticks;
    } else if (--collect->n_blocked == 0) {
        mds_switch(collect, true, now);
    }
}

/** The primitive that began at began ends. Same collect and timing as for mds_begin. A
 *  stamp before began counts as began. */
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
    if (timing == MDS_BLOCKING) {
        mds_split_end(collect, primitive, began, ticks);
    }
    if (collect->stamps != NULL) {
        bcs_stamps_end(collect->stamps);
    }
    if (collect->shape.n_events > 0) {
        mds_event_add(collect, began, ticks);
    }
    mds_go_out(collect, timing, now, ticks);
    mds_unlock(collect);
}

#endif
