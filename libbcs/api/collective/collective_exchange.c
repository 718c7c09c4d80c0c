/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The collectives in which every member sends to every member: allgather and alltoall.
 * Runs in the calling process.
 *
 * In step s of an exchange each member sends to the s-th member after it and receives
 * from the s-th before it, so that no member is everybody's target at once. No step
 * waits for another one: a member needs its core once, not once a step.
 */
#include <bcs/bcs.h>
#include <errno.h>
#include <string.h>

#include "libbcs/api/collective/collective_internal.h"
#include "libbcs/api/collective/collective_joined.h"

/* Up to this total for each pair of members, an allgather goes through one member: a
 * message costs about as much as the copying of so many bytes. */
#define ALLGATHER_GATHERED_PAIR_BYTES 2048

/* From this length on a member copies its own block while the others' are under way:
 * who comes first finds what it copies in the caches, and the others' blocks are not
 * kept waiting. Shorter ones are over before that pays. */
#define OWN_LAST_BYTES (1 << 20)

static bool is_packed(const struct bcs_blocks *blocks, int32_t size)
{
    size_t offset = 0;

    if (blocks->displacements == NULL) {
        return true;
    }
    for (int32_t i = 0; i < size; i++) {
        struct bcs_block_cursor cursor = {.blocks = blocks, .index = i};
        size_t n_bytes = bcs_block_cursor_bytes(&cursor);

        if (n_bytes > 0 && blocks->displacements[i] != offset) {
            return false;
        }
        offset += n_bytes;
    }
    return true;
}

static void plan_spread(struct bcs_plan *plan, const struct bcs_blocks *blocks,
                        const char *packed)
{
    int32_t size = plan->group->size;
    struct bcs_block_cursor cursor = bcs_block_cursor_at(blocks, size, 0);

    for (int32_t i = 0; i < size; i++) {
        bcs_plan_copy(plan, bcs_block_cursor_data(&cursor), packed + cursor.offset,
                      bcs_block_cursor_bytes(&cursor));
        bcs_block_cursor_next(&cursor);
    }
}

static void plan_allgather_gathered(struct bcs_plan *plan,
                                    const struct bcs_blocks *blocks, size_t total)
{
    int32_t size = plan->group->size;
    struct bcs_block_cursor own = bcs_block_cursor_at(blocks, size, plan->group->rank);
    const struct bcs_part mine = {bcs_block_cursor_data(&own),
                                  bcs_block_cursor_bytes(&own)};
    struct bcs_blocks packed = *blocks;
    bool is_in_place = is_packed(blocks, size);

    packed.displacements = NULL;
    if (!is_in_place) {
        packed.data = bcs_plan_allocate(plan, total);
        if (packed.data == NULL) {
            return;
        }
    }
    bcs_plan_gather(plan, &mine, &packed, 0);
    bcs_plan_fence(plan);
    bcs_plan_bcast(plan, packed.data, total, 0);
    if (!is_in_place) {
        bcs_plan_fence(plan);
        plan_spread(plan, blocks, packed.data);
    }
}

static void plan_allgather_direct(struct bcs_plan *plan,
                                  const struct bcs_blocks *blocks)
{
    int32_t size = plan->group->size;
    struct bcs_block_cursor own = bcs_block_cursor_at(blocks, size, plan->group->rank);
    struct bcs_block_cursor from = own;
    int32_t to = plan->group->rank;

    for (int32_t step = 1; step < size; step++) {
        bcs_block_cursor_previous(&from);
        to = to + 1 == size ? 0 : to + 1;
        bcs_plan_receive(plan, from.index, bcs_block_cursor_data(&from),
                         bcs_block_cursor_bytes(&from));
        bcs_plan_send(plan, to, bcs_block_cursor_data(&own),
                      bcs_block_cursor_bytes(&own));
    }
}

int bcs_api_allgather(struct bcs_context *context, struct bcs_group *group,
                      const void *mine, const struct bcs_blocks *blocks,
                      struct bcs_request *request)
{
    struct bcs_block_cursor own = bcs_block_cursor_at(blocks, group->size, group->rank);
    size_t n_pairs = (size_t)group->size * (size_t)group->size;
    struct bcs_plan *plan;

    if (mine != NULL) {
        bcs_block_copy(bcs_block_cursor_data(&own), mine, bcs_block_cursor_bytes(&own));
    }
    if (request == NULL && (group->size == 1 || own.total == 0)) {
        return 0;
    }
    if (request == NULL && bcs_allgather_fits(own.total)) {
        return bcs_allgather_joined(context, group, blocks);
    }
    plan = bcs_plan_begin(context, group, bcs_plan_agreed(BCS_PLAN_ALLGATHER, 0, -1),
                          request);
    if (plan == NULL) {
        return -ENOMEM;
    }
    if (own.total / n_pairs < ALLGATHER_GATHERED_PAIR_BYTES &&
        !bcs_saves_rounds(context, group->size, own.total / (size_t)group->size)) {
        plan_allgather_gathered(plan, blocks, own.total);
    } else {
        plan_allgather_direct(plan, blocks);
    }
    return bcs_plan_end(plan);
}

/** Copy a member's block to itself. */
static void plan_own_block(struct bcs_plan *plan, const struct bcs_block_cursor *from,
                           const struct bcs_block_cursor *to)
{
    bcs_plan_deliver(plan, bcs_block_cursor_data(to), bcs_block_cursor_bytes(to),
                     bcs_block_cursor_data(from), bcs_block_cursor_bytes(from));
}

static void plan_alltoall(struct bcs_plan *plan, const struct bcs_blocks *send,
                          const struct bcs_blocks *receive)
{
    int32_t size = plan->group->size, rank = plan->group->rank;
    struct bcs_block_cursor to = bcs_block_cursor_at(send, size, rank);
    struct bcs_block_cursor from = bcs_block_cursor_at(receive, size, rank);
    const struct bcs_block_cursor own_send = to, own_receive = from;
    bool is_own_last = bcs_block_cursor_bytes(&to) >= (size_t)OWN_LAST_BYTES;

    if (!is_own_last) {
        plan_own_block(plan, &own_send, &own_receive);
    }
    for (int32_t step = 1; step < size; step++) {
        bcs_block_cursor_previous(&from);
        bcs_block_cursor_next(&to);
        bcs_plan_receive(plan, from.index, bcs_block_cursor_data(&from),
                         bcs_block_cursor_bytes(&from));
        bcs_plan_send(plan, to.index, bcs_block_cursor_data(&to),
                      bcs_block_cursor_bytes(&to));
    }
    if (is_own_last) {
        plan_own_block(plan, &own_send, &own_receive);
    }
}

/** In place: what is sent is copied first. */
static void plan_alltoall_in_place(struct bcs_plan *plan,
                                   const struct bcs_blocks *blocks)
{
    int32_t size = plan->group->size;
    struct bcs_block_cursor cursor = bcs_block_cursor_at(blocks, size, 0);
    struct bcs_blocks copied = *blocks;
    char *copy = bcs_plan_allocate(plan, cursor.total);

    if (copy == NULL) {
        return;
    }
    copied.data = copy;
    copied.displacements = NULL;
    for (int32_t i = 0; i < size; i++) {
        bcs_block_copy(copy + cursor.offset, bcs_block_cursor_data(&cursor),
                       bcs_block_cursor_bytes(&cursor));
        bcs_block_cursor_next(&cursor);
    }
    plan_alltoall(plan, &copied, blocks);
}

int bcs_api_alltoall(struct bcs_context *context, struct bcs_group *group,
                     const struct bcs_blocks *send, const struct bcs_blocks *receive,
                     struct bcs_request *request)
{
    struct bcs_plan *plan;

    if (request == NULL && bcs_alltoall_fits(context, group, send, receive)) {
        return bcs_alltoall_joined(context, group, send, receive);
    }
    plan = bcs_plan_begin(context, group, bcs_plan_agreed(BCS_PLAN_ALLTOALL, 0, -1),
                          request);
    if (plan == NULL) {
        return -ENOMEM;
    }
    if (send->data != NULL) {
        plan_alltoall(plan, send, receive);
    } else {
        plan_alltoall_in_place(plan, receive);
    }
    return bcs_plan_end(plan);
}
