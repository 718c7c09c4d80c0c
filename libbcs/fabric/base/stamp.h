/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stamps: when something was posted, and by which rank, in one word, so that whoever
 * has waited for it can tell for how long, and for whom. They travel with what was
 * posted: in descriptors and cells (libbcs/fabric/ring/descriptor.h), in lines of
 * collectives (near_line.h), in results of the engine's. Only where the job records
 * calls (nic_record_config.has_stamps); elsewhere nobody writes or reads any.
 *
 * Two stamps are compared by their distance, so that the counter may go round: they
 * must be less than half a round apart, 2^47 ticks, half a day or more.
 */
#ifndef LIBBCS_FABRIC_BASE_STAMP_H
#define LIBBCS_FABRIC_BASE_STAMP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libbcs/fabric/base/clock.h"

enum {
    BCS_STAMP_RANK_BITS = 20, /* the low ones, rank + 1; the others count units of */
    BCS_STAMP_UNIT_SHIFT = 4, /* 2^4 ticks, some nanoseconds */
    BCS_STAMP_RANK_MASK = (1 << BCS_STAMP_RANK_BITS) - 1,
    BCS_STAMP_RANKS_MOST = BCS_STAMP_RANK_MASK,
};

#define BCS_STAMP_NONE UINT64_C(0)

/** The stamp of a rank, less than BCS_STAMP_RANKS_MOST, for a moment of
 *  bcs_clock_ticks; never BCS_STAMP_NONE. */
static inline uint64_t bcs_stamp_make(uint64_t ticks, uint32_t rank)
{
    return (ticks >> BCS_STAMP_UNIT_SHIFT) << BCS_STAMP_RANK_BITS | (rank + 1);
}

static inline uint32_t bcs_stamp_rank(uint64_t stamp)
{
    return (uint32_t)(stamp & BCS_STAMP_RANK_MASK) - 1;
}

/** Units from stamp b to a; negative: b is later. */
static inline int64_t bcs_stamp_distance(uint64_t a, uint64_t b)
{
    uint64_t units = (a >> BCS_STAMP_RANK_BITS << BCS_STAMP_RANK_BITS) -
                     (b >> BCS_STAMP_RANK_BITS << BCS_STAMP_RANK_BITS);

    return (int64_t)units / (BCS_STAMP_RANK_MASK + 1);
}

/** The later of two, either of which may be BCS_STAMP_NONE. */
static inline uint64_t bcs_stamp_later(uint64_t a, uint64_t b)
{
    if (a == BCS_STAMP_NONE || b == BCS_STAMP_NONE) {
        return a | b;
    }
    return bcs_stamp_distance(a, b) >= 0 ? a : b;
}

/** The moment of a stamp on bcs_clock_ticks, to a unit. @param near a moment less than
 *  half a round away from it */
static inline uint64_t bcs_stamp_ticks(uint64_t stamp, uint64_t near)
{
    return near + (uint64_t)(bcs_stamp_distance(stamp, bcs_stamp_make(near, 0)) *
                             (INT64_C(1) << BCS_STAMP_UNIT_SHIFT));
}

/** What the rank was late with whose stamp is the latest one. */
enum bcs_stamp_cause {
    BCS_STAMP_CAUSE_NONE,       /* nothing was waited for */
    BCS_STAMP_CAUSE_SENDER,     /* a message that was received, or found */
    BCS_STAMP_CAUSE_RECEIVER,   /* the receive of one that was sent */
    BCS_STAMP_CAUSE_COLLECTIVE, /* its part of a collective */
};

/** The stamps of a process: who records its calls begins and reads them, who posts and
 *  completes uses them. By one thread. */
struct bcs_stamps {
    bool is_on; /* all of the job's processes stamp what they post */
    /* The call under way has waited for something without a stamp: */
    bool is_blind;
    uint8_t cause; /* enum bcs_stamp_cause, of the latest */
    uint32_t rank;
    uint64_t own; /* of the call under way; BCS_STAMP_NONE: of none that is recorded */
    uint64_t latest; /* of all that the call has waited for */
};

/** A call begins. */
static inline void bcs_stamps_begin(struct bcs_stamps *stamps, uint64_t ticks)
{
    stamps->own = bcs_stamp_make(ticks, stamps->rank);
    stamps->latest = BCS_STAMP_NONE;
    stamps->cause = BCS_STAMP_CAUSE_NONE;
    stamps->is_blind = false;
}

/** It has ended: what is posted until the next one is of none. */
static inline void bcs_stamps_end(struct bcs_stamps *stamps)
{
    stamps->own = BCS_STAMP_NONE;
}

/** The stamp for what the call under way posts: of its begin, so that the clock is not
 *  read once more. */
static inline uint64_t bcs_stamps_own(const struct bcs_stamps *stamps)
{
    return stamps->own != BCS_STAMP_NONE
               ? stamps->own
               : bcs_stamp_make(bcs_clock_ticks(), stamps->rank);
}

/** The stamp for what hands on what others have handed to this process in its call: the
 *  latest. */
static inline uint64_t bcs_stamps_onward(const struct bcs_stamps *stamps)
{
    return bcs_stamp_later(bcs_stamps_own(stamps), stamps->latest);
}

/** The call under way has waited for what has such a stamp. */
static inline void bcs_stamps_note(struct bcs_stamps *stamps, uint64_t stamp,
                                   enum bcs_stamp_cause cause)
{
    if (stamp == BCS_STAMP_NONE) {
        stamps->is_blind = true;
    } else if (bcs_stamp_later(stamp, stamps->latest) == stamp) {
        stamps->latest = stamp;
        stamps->cause = (uint8_t)cause;
    }
}

enum { BCS_SLICE_BEGINS = 256 };

/** When the last timed slices of a machine have begun. Written by whoever runs them,
 *  read by all processes; relaxed: a moment alone, which is known to be old when it is
 *  overwritten. */
struct bcs_slice_begins {
    _Atomic uint64_t n; /* that there were */
    _Atomic uint64_t
        ticks[BCS_SLICE_BEGINS]; /* slice i in entry i % BCS_SLICE_BEGINS */
};

/** A slice begins. By one thread at a time. */
static inline void bcs_slice_begins_add(struct bcs_slice_begins *begins, uint64_t ticks)
{
    uint64_t n = atomic_load_explicit(&begins->n, memory_order_relaxed);

    atomic_store_explicit(&begins->ticks[n % BCS_SLICE_BEGINS], ticks,
                          memory_order_relaxed);
    /* release: pairs with the acquire in bcs_slice_begins_after */
    atomic_store_explicit(&begins->n, n + 1, memory_order_release);
}

/** When the first slice began that did not before a moment. @return 0: there was none
 *  yet, or so many that it is forgotten */
static inline uint64_t bcs_slice_begins_after(const struct bcs_slice_begins *begins,
                                              uint64_t ticks)
{
    uint64_t n = atomic_load_explicit(&begins->n, memory_order_acquire);
    uint64_t found = 0;

    /* one entry less: it may be being overwritten */
    for (uint64_t i = n; i > 0 && n - i < BCS_SLICE_BEGINS - 1; i--) {
        uint64_t begin = atomic_load_explicit(
            &begins->ticks[(i - 1) % BCS_SLICE_BEGINS], memory_order_relaxed);

        if (begin < ticks) {
            return found;
        }
        found = begin;
    }
    return n < BCS_SLICE_BEGINS ? found : 0;
}

#endif
