/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allgathers and alltoalls as reductions by or. Called by the process that owns the
 * context.
 *
 * In the vectors of an allgather stand the blocks of all members, in those of an
 * alltoall the blocks from each to each, by sender and receiver. A member writes what
 * it sends, and takes what is for it out of the joined vector. So the vectors of an
 * alltoall grow with the square of the members, and few of them fit; but each member
 * needs its core once, and nobody waits for a message.
 */
#include "libbcs/api/collective/collective_joined.h"

#include <string.h>

#include "libbcs/api/collective/collective_internal.h"
#include "libbcs/api/collective/engine_collective.h"
#include "libbcs/api/collective/near_collective.h"
#include "nic_threads/rules/reduce_ops.h"

/** A member's vector, and all of them joined. */
struct joined {
    _Alignas(16) char in[BCS_INLINE_BYTES];
    _Alignas(16) char out[BCS_INLINE_BYTES];
};

/** Join what stands in .in into .out. */
static int join(struct bcs_context *context, struct bcs_group *group,
                enum bcs_engine_collective_kind kind, size_t n_bytes,
                struct joined *joined)
{
    struct bcs_engine_collective_args args = {
        .kind = kind,
        .root = BCS_ROOT_ALL,
        .kernel = nic_reduce_kernel(NIC_REDUCE_BOR, NIC_REDUCE_U8),
        .count = n_bytes,
        .in = joined->in,
        .out = joined->out,
        .n_bytes = n_bytes,
    };

    return bcs_engine_collective(context, group, &args);
}

bool bcs_allgather_fits(size_t n_bytes)
{
    return bcs_engine_collective_fits(n_bytes);
}

int bcs_allgather_joined(struct bcs_context *context, struct bcs_group *group,
                         const struct bcs_blocks *blocks)
{
    struct bcs_block_cursor cursor =
        bcs_block_cursor_at(blocks, group->size, group->rank);
    struct joined joined;
    int status;

    memset(joined.in, 0, cursor.total);
    bcs_block_copy(joined.in + cursor.offset, bcs_block_cursor_data(&cursor),
                   bcs_block_cursor_bytes(&cursor));
    status = join(context, group, BCS_ENGINE_ALLGATHER, cursor.total, &joined);
    if (status != 0) {
        return status;
    }
    cursor = bcs_block_cursor_at(blocks, group->size, 0);
    for (int32_t i = 0; i < group->size; i++) {
        bcs_block_copy(bcs_block_cursor_data(&cursor), joined.out + cursor.offset,
                       bcs_block_cursor_bytes(&cursor));
        bcs_block_cursor_next(&cursor);
    }
    return 0;
}

/** Bytes of the blocks from each to each, of at most BCS_INLINE_BYTES each. */
static size_t alltoall_total(const struct bcs_group *group, size_t n_bytes)
{
    return (size_t)group->size * (size_t)group->size * n_bytes;
}

bool bcs_alltoall_fits(const struct bcs_context *context, const struct bcs_group *group,
                       const struct bcs_blocks *send, const struct bcs_blocks *receive)
{
    size_t n_bytes = receive->block_bytes;

    return receive->n_bytes == NULL && n_bytes > 0 &&
           bcs_engine_collective_fits(n_bytes) &&
           bcs_engine_collective_fits(alltoall_total(group, n_bytes)) &&
           (send->data == NULL ||
            (send->n_bytes == NULL && send->block_bytes == n_bytes)) &&
           bcs_group_is_near(context, group);
}

int bcs_alltoall_joined(struct bcs_context *context, struct bcs_group *group,
                        const struct bcs_blocks *send, const struct bcs_blocks *receive)
{
    int32_t size = group->size, rank = group->rank;
    size_t n_bytes = receive->block_bytes, row = n_bytes * (size_t)size;
    struct bcs_block_cursor to =
        bcs_block_cursor_at(send->data != NULL ? send : receive, size, 0);
    struct bcs_block_cursor from = bcs_block_cursor_at(receive, size, 0);
    struct joined joined;
    char *sent = joined.in + (size_t)rank * row;
    const char *received = joined.out + (size_t)rank * n_bytes;
    int status;

    memset(joined.in, 0, alltoall_total(group, n_bytes));
    for (int32_t i = 0; i < size; i++) {
        bcs_block_copy(sent + (size_t)i * n_bytes, bcs_block_cursor_data(&to), n_bytes);
        bcs_block_cursor_next(&to);
    }
    status = join(context, group, BCS_ENGINE_ALLTOALL, alltoall_total(group, n_bytes),
                  &joined);
    if (status != 0) {
        return status;
    }
    for (int32_t i = 0; i < size; i++) {
        bcs_block_copy(bcs_block_cursor_data(&from), received + (size_t)i * row,
                       n_bytes);
        bcs_block_cursor_next(&from);
    }
    return 0;
}
