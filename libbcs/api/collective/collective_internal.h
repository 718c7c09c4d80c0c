/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files collective*.c share: the check of roots, a broadcast as a part of
 * other collectives, and a cursor over the blocks of a v-collective. Nobody else
 * includes this.
 */
#ifndef LIBBCS_API_COLLECTIVE_COLLECTIVE_INTERNAL_H
#define LIBBCS_API_COLLECTIVE_COLLECTIVE_INTERNAL_H

#include "libbcs/api/collective/plan.h"
#include "nic_threads/machine/engine_xfer.h"

/** Check a root, and log what is wrong. @return 0 or -EINVAL */
int bcs_root_check(const char *call, const struct bcs_group *group, int32_t root);

/**
 * Whether every member should send to every member, rather than fewer messages go
 * through one of them: with timed strobes a second round costs a slice or two, and, if
 * nobody waits, the help of the member that it goes through. The same at all members.
 *
 * @param n_bytes  that each member sends to each
 */
bool bcs_saves_rounds(const struct bcs_context *context, int32_t size, size_t n_bytes);

/**
 * Whether what the engine could carry out had better go by messages: between machines a
 * round of all nodes takes many round trips, and messages on a tree one for each of its
 * steps. The same at all members.
 */
static inline bool bcs_goes_by_messages(const struct bcs_context *context,
                                        const struct bcs_group *group)
{
    return bcs_group_spans_nodes(group) && nic_engine_has_network(context->engine) &&
           !context->engine->is_timed;
}

/** The member that is step places after one of this rank in the ring of all size
 *  members, or before it if step is negative; step is shorter than the ring. */
static inline int32_t bcs_ring_member(int32_t rank, int32_t step, int32_t size)
{
    return (int32_t)(((int64_t)rank + step + size) % size);
}

/** The step of a gather that the member of this rank takes. */
void bcs_plan_gather(struct bcs_plan *plan, const struct bcs_part *mine,
                     const struct bcs_blocks *blocks, int32_t root);

/** The steps of a broadcast to plan->peers. */
void bcs_plan_bcast(struct bcs_plan *plan, void *data, size_t n_bytes, int32_t root);

/** A place in a bcs_blocks that moves to the next or previous member, cyclically. */
struct bcs_block_cursor {
    const struct bcs_blocks *blocks;
    int32_t size;
    int32_t index;
    size_t offset; /* bytes before block index; used when the blocks are packed */
    size_t total;
};

/** A cursor at one member's block, of size members. */
struct bcs_block_cursor bcs_block_cursor_at(const struct bcs_blocks *blocks,
                                            int32_t size, int32_t index);

/** Move to the next member's block; from the last to the first. */
void bcs_block_cursor_next(struct bcs_block_cursor *cursor);

/** Move to the previous member's block; from the first to the last. */
void bcs_block_cursor_previous(struct bcs_block_cursor *cursor);

/** Where the block starts. */
char *bcs_block_cursor_data(const struct bcs_block_cursor *cursor);

/** Length of the block. */
size_t bcs_block_cursor_bytes(const struct bcs_block_cursor *cursor);

/** Copy unless there is nothing to do (no bytes, or already in place). */
void bcs_block_copy(void *to, const void *from, size_t n_bytes);

#endif
