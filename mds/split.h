/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What blocking calls have waited for: their time in parts that come to all of it. A
 * call waits for a rank that is late from its own begin to the latest stamp of what it
 * has waited for (libbcs/fabric/base/stamp.h), then, if slices are timed, for the first
 * slice that begins afterwards; the rest is transfer, which is whatever the library
 * does. Pure.
 */
#ifndef MDS_SPLIT_H
#define MDS_SPLIT_H

#include <stdint.h>

#include "libbcs/fabric/base/stamp.h"

/** The parts. */
enum mds_part {
    MDS_PART_SENDER,     /* for a late sender: until it has posted */
    MDS_PART_RECEIVER,   /* for a late receiver */
    MDS_PART_COLLECTIVE, /* for the last rank of a collective, of those that it needs */
    MDS_PART_SLICE,      /* from there to the begin of a timed slice */
    MDS_PART_TRANSFER,   /* the rest of such calls */
    MDS_PART_OTHER,      /* all of calls that cannot be split */
    MDS_N_PARTS,
    MDS_N_LATE = MDS_PART_SLICE, /* the first ones have a rank at fault */
};

/** Time by part, in ticks. */
struct mds_split {
    uint64_t ticks[MDS_N_PARTS];
};

/** A rank that has been late, most of the time, at one place. After any number of waits
 *  it has been waited for, in all, at least `ticks`; if one was for more than half of
 *  all time it is that one. */
struct mds_fault {
    uint64_t ticks;
    uint32_t rank;
};

/** One call, split. */
struct mds_split_call {
    struct mds_split split;
    uint64_t late;      /* of that, for the rank that was late */
    uint32_t rank;      /* in the job, if late is not 0 */
    enum mds_part part; /* which one it is */
};

/** What is known of a call when it ends. */
struct mds_split_facts {
    uint64_t began, ticks;
    uint64_t latest; /* stamp of the last that it has waited for; BCS_STAMP_NONE: it has
                        not */
    uint32_t rank;   /* the process's own */
    enum mds_part part;                    /* what latest is of, if there is one */
    bool is_known;                         /* nothing else can have held it up */
    const struct bcs_slice_begins *begins; /* NULL: slices are not by the clock */
};

/** How much of a wait from a moment on is for a slice to begin. */
static inline uint64_t mds_split_slice(const struct bcs_slice_begins *begins,
                                       uint64_t from, uint64_t end)
{
    uint64_t begin = bcs_slice_begins_after(begins, from);

    return begin == 0 ? 0 : (begin < end ? begin : end) - from;
}

/** Split a call. */
static inline struct mds_split_call mds_split_of(const struct mds_split_facts *facts)
{
    uint64_t end = facts->began + facts->ticks, from = facts->began;
    struct mds_split_call call = {.part = facts->part};

    if (!facts->is_known) {
        call.split.ticks[MDS_PART_OTHER] = facts->ticks;
        return call;
    }
    if (facts->latest != BCS_STAMP_NONE) {
        uint64_t posted = bcs_stamp_ticks(facts->latest, end);

        call.rank = bcs_stamp_rank(facts->latest);
        if (call.rank != facts->rank && (int64_t)(posted - from) > 0) {
            call.late = (int64_t)(posted - end) > 0 ? facts->ticks : posted - from;
        }
        from += call.late;
        call.split.ticks[facts->part] = call.late;
        if (facts->begins != NULL) {
            call.split.ticks[MDS_PART_SLICE] =
                mds_split_slice(facts->begins, from, end);
        }
    }
    call.split.ticks[MDS_PART_TRANSFER] = end - from - call.split.ticks[MDS_PART_SLICE];
    return call;
}

/** Add from to into. */
static inline void mds_split_add(struct mds_split *into, const struct mds_split *from)
{
    for (int i = 0; i < MDS_N_PARTS; i++) {
        into->ticks[i] += from->ticks[i];
    }
}

/** A rank has been waited for. */
static inline void mds_fault_add(struct mds_fault *fault, uint32_t rank, uint64_t ticks)
{
    if (rank == fault->rank) {
        fault->ticks += ticks;
    } else if (ticks <= fault->ticks) {
        fault->ticks -= ticks;
    } else {
        *fault = (struct mds_fault){.rank = rank, .ticks = ticks - fault->ticks};
    }
}

#endif
