/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which bytes move in which slice: pure code. Long messages wait here in order for
 * their next chunk; a slice takes chunks from the front until it is full, and what does
 * not fit waits for the next slice at the front of the queue. A message that has had
 * its chunk of a slice waits apart until the next slice is opened, also when a slice
 * has several rounds. Used by the buffer receiver. [BCS-MPI section 4.3, message
 * scheduling microphase]
 */
#ifndef NIC_THREADS_RULES_SCHEDULE_H
#define NIC_THREADS_RULES_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "nic_threads/rules/match.h"

/** Transfers that wait for a chunk, and how much a slice may move. */
struct nic_schedule {
    struct nic_list waiting;
    struct nic_list later; /* have had their chunk of this slice */
    uint64_t n_opened;     /* slices so far */
    uint64_t chunk_bytes;  /* of one message in one slice */
    uint64_t slice_bytes;  /* of all messages in one slice */
    uint64_t left_bytes;   /* of the slice that is being filled */
    bool is_full;          /* the first that waits does not fit any more */
};

/** What a transfer has of this slice: one chunk. */
struct nic_share {
    uint32_t item;
    uint64_t offset;
    uint64_t n_bytes;
};

/** Make an empty schedule. slice_bytes is raised to chunk_bytes at least. */
void nic_schedule_init(struct nic_schedule *schedule, uint64_t chunk_bytes,
                       uint64_t slice_bytes);

/** Queue a transfer (item->granted of item->total bytes are done) for its next chunk.
 *  One that is queued already keeps its place. */
void nic_schedule_add(struct nic_schedule *schedule, const struct nic_items *items,
                      uint32_t id);

/** Start to fill a slice: everything that waits may have a chunk again. */
void nic_schedule_open(struct nic_schedule *schedule, const struct nic_items *items);

/**
 * Take the next chunk of this slice, or a piece of one where chunk_limit says so, and
 * advance item->granted past it. A transfer of no bytes gets one chunk of none.
 *
 * @return 1  share_out is set
 * @return 0  the slice is full or nothing waits
 */
int nic_schedule_next(struct nic_schedule *schedule, const struct nic_items *items,
                      struct nic_share *share_out);

/** Whether a transfer waits for a chunk, of this slice or the next. Also read without
 *  the lock. */
static inline bool nic_schedule_is_waiting(const struct nic_schedule *schedule)
{
    return __atomic_load_n(&schedule->waiting.first, __ATOMIC_RELAXED) !=
               NIC_ITEM_NONE ||
           __atomic_load_n(&schedule->later.first, __ATOMIC_RELAXED) != NIC_ITEM_NONE;
}

/** Whether this slice can take another chunk. Also read without the lock. */
static inline bool nic_schedule_can_go_on(const struct nic_schedule *schedule)
{
    return __atomic_load_n(&schedule->waiting.first, __ATOMIC_RELAXED) !=
               NIC_ITEM_NONE &&
           !__atomic_load_n(&schedule->is_full, __ATOMIC_RELAXED);
}

#endif
