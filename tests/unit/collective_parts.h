/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parts of collectives that a test posts for the ranks of a job, whose engine it turns
 * itself.
 */
#ifndef TEST_UNIT_COLLECTIVE_PARTS_H
#define TEST_UNIT_COLLECTIVE_PARTS_H

#include <check.h>
#include <string.h>

#include "libbcs/api/message/post.h"
#include "nic_threads/rules/reduce_ops.h"
#include "tests/engine/job.h"

/** The operation of a sum of 64-bit words. */
static inline unsigned int sum_of_words(void)
{
    return bcs_operation(BCS_COLLECTIVE_REDUCE, (unsigned int)nic_reduce_kernel(
                                                    NIC_REDUCE_SUM, NIC_REDUCE_I64));
}

/** Post a member's part of a collective of its group `world`, with so many bytes of a
 *  word as operand; all get the result if there is no root. @return its cell */
static inline uint32_t post_part_of(struct rank *me, uint32_t slot,
                                    unsigned int operation, int32_t root, int64_t word,
                                    uint32_t n_bytes)
{
    struct bcs_ring_writer *ring = bcs_post_to_node(me->context);
    struct bcs_descriptor *entry = bcs_post_begin(me->context, ring, BCS_COLLECTIVE);

    entry->flags = root < 0 ? BCS_TO_ALL : 0;
    entry->operation = (uint16_t)operation;
    entry->port = slot;
    entry->source = me->world.rank;
    entry->tag = root;
    entry->cell = bcs_poster_cell(&me->context->poster);
    entry->n_bytes = n_bytes;
    memcpy(entry->payload, &word, sizeof(word));
    bcs_ring_publish(ring, entry);
    return entry->cell;
}

/** The same with a whole word, unless it is a barrier. */
static inline uint32_t post_part(struct rank *me, uint32_t slot, unsigned int operation,
                                 int32_t root, int64_t word)
{
    return post_part_of(me, slot, operation, root, word,
                        operation == BCS_COLLECTIVE_BARRIER ? 0 : sizeof(word));
}

static inline const struct bcs_cell *cell_of(const struct rank *me, uint32_t cell)
{
    return bcs_poster_cell_at(&me->context->poster, cell);
}

/** A member has got a word. */
static inline void expect_part(const struct rank *me, uint32_t cell, int64_t word)
{
    int64_t got;

    ck_assert_int_eq(bcs_cell_state(cell_of(me, cell)), BCS_CELL_INLINE);
    memcpy(&got, cell_of(me, cell)->payload, sizeof(got));
    ck_assert_int_eq(got, word);
}

#endif
