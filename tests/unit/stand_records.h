/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing where ranks stand (libbcs/fabric/ring/stand.h) by hand, for who reads that.
 * Included by one file of a program.
 */
#ifndef TEST_UNIT_STAND_RECORDS_H
#define TEST_UNIT_STAND_RECORDS_H

#include <string.h>

#include "libbcs/fabric/ring/stand.h"
#include "tests/engine/job.h"

enum { STAND_MOST_RANKS = 128, STAND_TAG = 7 };

static uint64_t stand_draft[sizeof(struct bcs_stand) / sizeof(uint64_t) +
                            BCS_STAND_SETS * (STAND_MOST_RANKS / 64)];
static uint32_t stand_page; /* that is told */

/** A wait of the only thread of its rank, for nothing yet. */
static inline struct bcs_stand *stand_begin(void)
{
    struct bcs_stand *stand = (void *)stand_draft;

    memset(stand_draft, 0, sizeof(stand_draft));
    stand->is_waiting = 1;
    stand->needs_all = 1;
    stand->n_threads = 1;
    stand->root = -1;
    return stand;
}

/** A receive from a rank. */
static inline struct bcs_stand_operation stand_receive(uint32_t from, uint32_t cell)
{
    return (struct bcs_stand_operation){.kind = BCS_STAND_RECEIVE,
                                        .peer = (int32_t)from,
                                        .tag = STAND_TAG,
                                        .cell = cell};
}

/** A wait in a job of some ranks is for a message of one of them, too. @param cell  of
 *  the receive */
static inline void stand_add(const struct rank *me, struct bcs_stand *stand,
                             uint32_t from, uint32_t cell)
{
    const struct bcs_stand_operation operation = stand_receive(from, cell);
    uint32_t n_ranks = (uint32_t)me->size;

    bcs_stand_list(stand, n_ranks, stand_page, &operation);
    bcs_stand_mark(stand, BCS_STAND_RELEASING, from, n_ranks);
}

/** Its rank has a collective that needs such a message. */
static inline void stand_add_plan(const struct rank *me, struct bcs_stand *stand,
                                  uint32_t from, uint32_t cell)
{
    const struct bcs_stand_operation operation = stand_receive(from, cell);

    bcs_stand_list_plan(stand, (uint32_t)me->size, stand_page, &operation);
}

static inline struct bcs_stand_slot *stand_slot(const struct rank *me, uint32_t rank,
                                                uint32_t thread)
{
    return bcs_stand_slot_at(nic_engine_stands(me->context->engine, rank), thread,
                             (uint32_t)me->size);
}

/** A thread of a rank tells of a wait; NULL: it waits no more. */
static inline void stand_tell(const struct rank *me, uint32_t rank, uint32_t thread,
                              const struct bcs_stand *stand)
{
    bcs_stand_write(stand_slot(me, rank, thread), stand, (uint32_t)me->size);
}

#endif
