/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The collectives with one source or one target: barrier, broadcast, gather, scatter.
 * Blocking barriers are left to the NIC engine, and so are small blocking broadcasts
 * between nodes; the rest are plans of point-to-point transfers. Runs in the calling
 * process.
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

#include "libbcs/api/collective/collective_internal.h"
#include "libbcs/api/collective/engine_collective.h"
#include "libbcs/api/message/wait.h"
#include "libbcs/fabric/base/log.h"

/* The largest group, and the longest message, for which a slice is worth messages from
 * each member to each: together they take a part of a slice of 250 us. */
#define ONE_ROUND_MEMBERS 16
#define ONE_ROUND_BYTES 4096u

int bcs_root_check(const char *call, const struct bcs_group *group, int32_t root)
{
    if ((uint32_t)root < (uint32_t)group->size) {
        return 0;
    }
    bcs_error("%s: no rank %d in a group of %d", call, root, group->size);
    return -EINVAL;
}

/**
 * This member in the tree of a group. Members are numbered from the root; v's children
 * are v * degree + 1 and following.
 */
struct tree {
    uint32_t degree;
    int64_t size;
    int64_t root;
    int64_t self; /* number */
    int64_t first_child;
    int64_t end_child;
};

static struct tree tree_at(const struct bcs_context *context,
                           const struct bcs_group *group, int32_t root)
{
    struct tree tree = {
        .degree = context->config.limits.tree, .size = group->size, .root = root};
    int64_t end;

    tree.self = group->rank - root + (group->rank < root ? tree.size : 0);
    tree.first_child = tree.self * tree.degree + 1;
    end = tree.first_child + tree.degree;
    tree.end_child = end < tree.size ? end : tree.size;
    return tree;
}

static int32_t tree_rank(const struct tree *tree, int64_t number)
{
    int64_t rank = number + tree->root;

    return (int32_t)(rank < tree->size ? rank : rank - tree->size);
}

static int32_t tree_parent(const struct tree *tree)
{
    return tree_rank(tree, (uint32_t)(tree->self - 1) / tree->degree);
}

bool bcs_saves_rounds(const struct bcs_context *context, int32_t size, size_t n_bytes)
{
    return context->engine->is_timed && size <= ONE_ROUND_MEMBERS &&
           n_bytes <= ONE_ROUND_BYTES;
}

/** Everybody tells everybody. */
static void plan_barrier_direct(struct bcs_plan *plan)
{
    int32_t size = plan->group->size, rank = plan->group->rank;

    for (int32_t step = 1; step < size; step++) {
        bcs_plan_hear(plan, bcs_ring_member(rank, -step, size));
        bcs_plan_tell(plan, bcs_ring_member(rank, step, size));
    }
}

/** Up the tree: all are there. Down again: all know it. */
static void plan_barrier_on_tree(struct bcs_plan *plan)
{
    struct tree tree = tree_at(plan->context, plan->group, 0);

    for (int64_t child = tree.first_child; child < tree.end_child; child++) {
        bcs_plan_hear(plan, tree_rank(&tree, child));
    }
    bcs_plan_fence(plan);
    if (tree.self != 0) {
        bcs_plan_tell(plan, tree_parent(&tree));
        bcs_plan_hear(plan, tree_parent(&tree));
        bcs_plan_fence(plan);
    }
    for (int64_t child = tree.first_child; child < tree.end_child; child++) {
        bcs_plan_tell(plan, tree_rank(&tree, child));
    }
}

int bcs_api_barrier(struct bcs_context *context, struct bcs_group *group,
                    struct bcs_request *request)
{
    struct bcs_engine_collective_args args = {
        .kind = BCS_ENGINE_BARRIER,
        .root = BCS_ROOT_ALL,
        .kernel = -1,
    };
    struct bcs_plan *plan;

    if (request == NULL && group->size == 1) {
        return 0;
    }
    if (request == NULL && !bcs_goes_by_messages(context, group)) {
        return bcs_engine_collective(context, group, &args);
    }
    plan = bcs_plan_begin(context, group, bcs_plan_agreed(BCS_PLAN_BARRIER, 0, -1),
                          request);
    if (plan == NULL) {
        return -ENOMEM;
    }
    if (bcs_saves_rounds(context, group->size, 0)) {
        plan_barrier_direct(plan);
    } else {
        plan_barrier_on_tree(plan);
    }
    return bcs_plan_end(plan);
}

/** A barrier of its own kind: members that are in any other one are refused. */
static int wait_for_all(struct bcs_context *context, struct bcs_group *group,
                        int kernel, const char *words)
{
    struct bcs_engine_collective_args args = {
        .kind = BCS_ENGINE_BARRIER,
        .root = BCS_ROOT_ALL,
        .kernel = kernel,
        .words = words,
    };

    return group->size == 1 ? 0 : bcs_engine_collective(context, group, &args);
}

int bcs_wait_for_end(struct bcs_context *context, struct bcs_group *group)
{
    return wait_for_all(context, group, BCS_KERNEL_END, NULL);
}

int bcs_wait_for_members(struct bcs_context *context, struct bcs_group *group,
                         unsigned int call)
{
    return wait_for_all(
        context, group, BCS_KERNEL_CALLS + (int)call,
        context->hooks.name_call == NULL ? NULL : context->hooks.name_call(call));
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

void bcs_plan_bcast(struct bcs_plan *plan, void *data, size_t n_bytes, int32_t root)
{
    struct tree tree = tree_at(plan->context, plan->peers, root);

    if (tree.self != 0) {
        bcs_plan_await(plan, tree_parent(&tree), data, n_bytes);
    }
    for (int64_t child = tree.first_child; child < tree.end_child; child++) {
        bcs_plan_send(plan, tree_rank(&tree, child), data, n_bytes);
    }
}

int bcs_api_bcast(struct bcs_context *context, struct bcs_group *group, void *data,
                  size_t n_bytes, int32_t root, struct bcs_request *request)
{
    struct bcs_plan *plan;

    if (bcs_root_check("bcs_bcast", group, root) < 0) {
        return -EINVAL;
    }
    if (request == NULL && (group->size == 1 || n_bytes == 0)) {
        return 0;
    }
    if (request == NULL && bcs_engine_collective_fits(n_bytes) &&
        bcs_group_spans_nodes(group) && !bcs_goes_by_messages(context, group)) {
        return bcast_by_engine(context, group, data, n_bytes, root);
    }
    plan = bcs_plan_begin(context, group, bcs_plan_agreed(BCS_PLAN_BCAST, root, -1),
                          request);
    if (plan == NULL) {
        return -ENOMEM;
    }
    bcs_plan_bcast(plan, data, n_bytes, root);
    return bcs_plan_end(plan);
}

void bcs_plan_gather(struct bcs_plan *plan, const struct bcs_part *mine,
                     const struct bcs_blocks *blocks, int32_t root)
{
    struct bcs_block_cursor cursor;

    if (plan->group->rank != root) {
        bcs_plan_send(plan, root, mine->data, mine->n_bytes);
        return;
    }
    cursor = bcs_block_cursor_at(blocks, plan->group->size, 0);
    for (int32_t i = 0; i < plan->group->size; i++) {
        char *data = bcs_block_cursor_data(&cursor);
        size_t n_bytes = bcs_block_cursor_bytes(&cursor);

        if (i != root) {
            bcs_plan_receive(plan, i, data, n_bytes);
        } else if (mine != NULL) {
            bcs_plan_deliver(plan, data, n_bytes, mine->data, mine->n_bytes);
        }
        bcs_block_cursor_next(&cursor);
    }
}

int bcs_api_gather(struct bcs_context *context, struct bcs_group *group,
                   const struct bcs_part *mine, const struct bcs_blocks *blocks,
                   int32_t root, struct bcs_request *request)
{
    struct bcs_plan *plan;

    if (bcs_root_check("bcs_gather", group, root) < 0) {
        return -EINVAL;
    }
    plan = bcs_plan_begin(context, group, bcs_plan_agreed(BCS_PLAN_GATHER, root, -1),
                          request);
    if (plan == NULL) {
        return -ENOMEM;
    }
    bcs_plan_gather(plan, mine, blocks, root);
    return bcs_plan_end(plan);
}

static void plan_scatter(struct bcs_plan *plan, const struct bcs_part *mine,
                         const struct bcs_blocks *blocks, int32_t root)
{
    struct bcs_block_cursor cursor;

    if (plan->group->rank != root) {
        bcs_plan_receive(plan, root, mine->data, mine->n_bytes);
        return;
    }
    cursor = bcs_block_cursor_at(blocks, plan->group->size, 0);
    for (int32_t i = 0; i < plan->group->size; i++) {
        char *data = bcs_block_cursor_data(&cursor);
        size_t n_bytes = bcs_block_cursor_bytes(&cursor);

        if (i != root) {
            bcs_plan_send(plan, i, data, n_bytes);
        } else if (mine != NULL) {
            bcs_plan_deliver(plan, mine->data, mine->n_bytes, data, n_bytes);
        }
        bcs_block_cursor_next(&cursor);
    }
}

int bcs_api_scatter(struct bcs_context *context, struct bcs_group *group,
                    const struct bcs_part *mine, const struct bcs_blocks *blocks,
                    int32_t root, struct bcs_request *request)
{
    struct bcs_plan *plan;

    if (bcs_root_check("bcs_scatter", group, root) < 0) {
        return -EINVAL;
    }
    plan = bcs_plan_begin(context, group, bcs_plan_agreed(BCS_PLAN_SCATTER, root, -1),
                          request);
    if (plan == NULL) {
        return -ENOMEM;
    }
    plan_scatter(plan, mine, blocks, root);
    return bcs_plan_end(plan);
}
