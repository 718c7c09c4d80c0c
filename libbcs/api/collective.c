/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The collectives with one source or one target: barrier, broadcast, gather, scatter.
 * Barriers are left to the NIC engine, and so are small broadcasts between nodes; the rest
 * are point-to-point transfers. Runs in the calling process.
 *
 * Within a node a root that sends is done when its data are in NIC memory, while the
 * engine's collectives, which need all members' parts, let all wait for the last.
 *
 * Trees are as flat as possible: within a machine every receiver copies for itself, and
 * a member that has to forward what it received must first be given a core, which
 * costs more than a copy as soon as there are more processes than cores.
 */
#include <bcs/bcs.h>
#include <errno.h>

#include "libbcs/api/collective_internal.h"
#include "libbcs/api/engine_collective.h"
#include "libbcs/base/log.h"

/* Members that one member forwards a broadcast to. */
#define BCAST_DEGREE 32

int bcs_root_check(const char *call, const struct bcs_group *group, int32_t root)
{
    if ((uint32_t)root < (uint32_t)group->size) {
        return 0;
    }
    bcs_error("%s: no rank %d in a group of %d", call, root, group->size);
    return -EINVAL;
}

int bcs_barrier(struct bcs_context *context, struct bcs_group *group)
{
    struct bcs_engine_collective_args args = {
        .kind = BCS_ENGINE_BARRIER,
        .root = BCS_ROOT_ALL,
        .kernel = -1,
    };

    if (group->size == 1) {
        return 0;
    }
    return bcs_engine_collective(context, group, &args);
}

static int bcast_by_engine(struct bcs_context *context, struct bcs_group *group,
                           void *data, size_t n_bytes, int root)
{
    struct bcs_engine_collective_args args = {
        .kind = BCS_ENGINE_BCAST,
        .root = root,
        .kernel = -1,
        .in = group->rank == root ? data : NULL,
        .out = data,
        .n_bytes = n_bytes,
    };

    return bcs_engine_collective(context, group, &args);
}

/* Members are numbered from the root; v's children are v * degree + 1 and following. */
static int bcast_by_tree(struct bcs_context *context, struct bcs_group *group,
                         void *data, size_t n_bytes, int root)
{
    int64_t size = group->size;
    int64_t self = (group->rank - root + size) % size;
    struct bcs_batch batch;
    int status;

    bcs_batch_begin(&batch, context, group);
    if (self != 0) {
        int64_t parent = (self - 1) / BCAST_DEGREE;

        bcs_batch_receive(&batch, (int32_t)((parent + root) % size), data, n_bytes);
        status = bcs_batch_wait(&batch);
        if (status < 0) {
            return status;
        }
    }
    for (int64_t i = 1; i <= BCAST_DEGREE && self * BCAST_DEGREE + i < size; i++) {
        int64_t child = self * BCAST_DEGREE + i;

        bcs_batch_send(&batch, (int32_t)((child + root) % size), data, n_bytes);
    }
    return bcs_batch_wait(&batch);
}

int bcs_bcast(struct bcs_context *context, struct bcs_group *group, void *data,
              size_t n_bytes, int32_t root)
{
    if (bcs_root_check("bcs_bcast", group, root) < 0) {
        return -EINVAL;
    }
    if (group->size == 1 || n_bytes == 0) {
        return 0;
    }
    if (bcs_engine_collective_fits(n_bytes) && bcs_group_spans_nodes(group)) {
        return bcast_by_engine(context, group, data, n_bytes, root);
    }
    return bcast_by_tree(context, group, data, n_bytes, root);
}

int bcs_gather(struct bcs_context *context, struct bcs_group *group, const void *mine,
               size_t n_mine_bytes, const struct bcs_blocks *blocks, int32_t root)
{
    struct bcs_block_cursor cursor;
    struct bcs_batch batch;

    if (bcs_root_check("bcs_gather", group, root) < 0) {
        return -EINVAL;
    }
    bcs_batch_begin(&batch, context, group);
    if (group->rank != root) {
        bcs_batch_send(&batch, root, mine, n_mine_bytes);
        return bcs_batch_wait(&batch);
    }
    cursor = bcs_block_cursor_at(blocks, group->size, 0);
    for (int32_t i = 0; i < group->size; i++) {
        char *data = bcs_block_cursor_data(&cursor);
        size_t n_bytes = bcs_block_cursor_bytes(&cursor);

        if (i != root) {
            bcs_batch_receive(&batch, i, data, n_bytes);
        } else if (mine != NULL) {
            bcs_batch_copy(&batch, data, n_bytes, mine, n_mine_bytes);
        }
        bcs_block_cursor_next(&cursor);
    }
    return bcs_batch_wait(&batch);
}

int bcs_scatter(struct bcs_context *context, struct bcs_group *group, void *mine,
                size_t n_mine_bytes, const struct bcs_blocks *blocks, int32_t root)
{
    struct bcs_block_cursor cursor;
    struct bcs_batch batch;

    if (bcs_root_check("bcs_scatter", group, root) < 0) {
        return -EINVAL;
    }
    bcs_batch_begin(&batch, context, group);
    if (group->rank != root) {
        bcs_batch_receive(&batch, root, mine, n_mine_bytes);
        return bcs_batch_wait(&batch);
    }
    cursor = bcs_block_cursor_at(blocks, group->size, 0);
    for (int32_t i = 0; i < group->size; i++) {
        char *data = bcs_block_cursor_data(&cursor);
        size_t n_bytes = bcs_block_cursor_bytes(&cursor);

        if (i != root) {
            bcs_batch_send(&batch, i, data, n_bytes);
        } else if (mine != NULL) {
            bcs_batch_copy(&batch, mine, n_mine_bytes, data, n_bytes);
        }
        bcs_block_cursor_next(&cursor);
    }
    return bcs_batch_wait(&batch);
}
