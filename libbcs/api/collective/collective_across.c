/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of an intercommunicator, as plans. Data that are to be combined are
 * combined within their side, in rank order and on the same tree as always; rank 0 of
 * each side speaks for it to the other. Blocks go from each sender to each receiver, as
 * no member knows the lengths of the others' on its side. Runs in the calling process.
 */
#include "libbcs/api/collective/collective_across.h"

#include <errno.h>

#include "libbcs/api/collective/collective_internal.h"
#include "libbcs/api/collective/collective_shares.h"

static bool is_root_valid(const struct bcs_sides *sides, int32_t root)
{
    return root == BCS_ROOT_SELF || root == BCS_ROOT_OUR_SIDE ||
           (uint32_t)root < (uint32_t)sides->others.size;
}

/** Begin a plan whose transfers are with the other side. @return 0, -EINVAL, -ENOMEM */
static int begin(struct bcs_context *context, struct bcs_sides *sides, int32_t root,
                 enum bcs_plan_kind kind, struct bcs_request *request,
                 struct bcs_plan **plan_out)
{
    struct bcs_plan *plan;

    if (!is_root_valid(sides, root)) {
        return -EINVAL;
    }
    plan = bcs_plan_begin(context, &sides->both, bcs_plan_agreed(kind, 0, -1), request);
    if (plan == NULL) {
        return -ENOMEM;
    }
    plan->peers = &sides->others;
    *plan_out = plan;
    return 0;
}

/** What rank 0 of this side has, the side gets. */
static void plan_tell_side(struct bcs_plan *plan, const struct bcs_sides *sides,
                           void *data, size_t n_bytes)
{
    bcs_plan_fence(plan);
    plan->peers = &sides->mine;
    bcs_plan_bcast(plan, data, n_bytes, 0);
}

int bcs_across_bcast(struct bcs_context *context, struct bcs_sides *sides, void *data,
                     size_t n_bytes, int32_t root, struct bcs_request *request)
{
    struct bcs_plan *plan;
    int status = begin(context, sides, root, BCS_PLAN_BCAST, request, &plan);

    if (status < 0) {
        return status;
    }
    if (root == BCS_ROOT_SELF) {
        bcs_plan_send(plan, 0, data, n_bytes);
    } else if (root != BCS_ROOT_OUR_SIDE) {
        if (sides->mine.rank == 0) {
            bcs_plan_receive(plan, root, data, n_bytes);
        }
        plan_tell_side(plan, sides, data, n_bytes);
    }
    return bcs_plan_end(plan);
}

/** A block between the root and each member of the other side. */
static void plan_blocks(struct bcs_plan *plan, const struct bcs_blocks *blocks,
                        bool is_gather)
{
    int32_t size = plan->peers->size;
    struct bcs_block_cursor cursor = bcs_block_cursor_at(blocks, size, 0);

    for (int32_t i = 0; i < size; i++) {
        char *data = bcs_block_cursor_data(&cursor);
        size_t n_bytes = bcs_block_cursor_bytes(&cursor);

        if (is_gather) {
            bcs_plan_receive(plan, i, data, n_bytes);
        } else {
            bcs_plan_send(plan, i, data, n_bytes);
        }
        bcs_block_cursor_next(&cursor);
    }
}

/** Between the blocks of the root and the own parts of the other side's members. */
static int exchange_with_root(struct bcs_plan *plan, const struct bcs_part *mine,
                              const struct bcs_blocks *blocks, int32_t root,
                              bool is_gather)
{
    if (root == BCS_ROOT_SELF) {
        plan_blocks(plan, blocks, is_gather);
    } else if (root != BCS_ROOT_OUR_SIDE && is_gather) {
        bcs_plan_send(plan, root, mine->data, mine->n_bytes);
    } else if (root != BCS_ROOT_OUR_SIDE) {
        bcs_plan_receive(plan, root, mine->data, mine->n_bytes);
    }
    return bcs_plan_end(plan);
}

int bcs_across_gather(struct bcs_context *context, struct bcs_sides *sides,
                      const struct bcs_part *mine, const struct bcs_blocks *blocks,
                      int32_t root, struct bcs_request *request)
{
    struct bcs_plan *plan;
    int status = begin(context, sides, root, BCS_PLAN_GATHER, request, &plan);

    return status < 0 ? status : exchange_with_root(plan, mine, blocks, root, true);
}

int bcs_across_scatter(struct bcs_context *context, struct bcs_sides *sides,
                       const struct bcs_part *mine, const struct bcs_blocks *blocks,
                       int32_t root, struct bcs_request *request)
{
    struct bcs_plan *plan;
    int status = begin(context, sides, root, BCS_PLAN_SCATTER, request, &plan);

    return status < 0 ? status : exchange_with_root(plan, mine, blocks, root, false);
}

/**
 * The member of the other side that this one exchanges with first; the others follow in
 * rank order, cyclically. It is as if in step s the ranks i and k of the two sides met
 * for which i + k is s, modulo the size of the larger side: both then come to their
 * pair in the same step, and no member is everybody's target at once.
 */
static int32_t first_peer(const struct bcs_sides *sides)
{
    int32_t n = sides->others.size;
    int32_t n_steps = n > sides->mine.size ? n : sides->mine.size;
    int32_t first = (n_steps - sides->mine.rank) % n_steps;

    return first < n ? first : 0;
}

int bcs_across_allgather(struct bcs_context *context, struct bcs_sides *sides,
                         const struct bcs_part *mine, const struct bcs_blocks *blocks,
                         struct bcs_request *request)
{
    int32_t size = sides->others.size;
    struct bcs_block_cursor from = bcs_block_cursor_at(blocks, size, first_peer(sides));
    struct bcs_plan *plan;
    int status =
        begin(context, sides, BCS_ROOT_SELF, BCS_PLAN_ALLGATHER, request, &plan);

    if (status < 0) {
        return status;
    }
    for (int32_t i = 0; i < size; i++) {
        bcs_plan_receive(plan, from.index, bcs_block_cursor_data(&from),
                         bcs_block_cursor_bytes(&from));
        bcs_plan_send(plan, from.index, mine->data, mine->n_bytes);
        bcs_block_cursor_next(&from);
    }
    return bcs_plan_end(plan);
}

int bcs_across_alltoall(struct bcs_context *context, struct bcs_sides *sides,
                        const struct bcs_blocks *send, const struct bcs_blocks *receive,
                        struct bcs_request *request)
{
    int32_t size = sides->others.size, first = first_peer(sides);
    struct bcs_block_cursor from = bcs_block_cursor_at(receive, size, first);
    struct bcs_block_cursor to = bcs_block_cursor_at(send, size, first);
    struct bcs_plan *plan;
    int status =
        begin(context, sides, BCS_ROOT_SELF, BCS_PLAN_ALLTOALL, request, &plan);

    if (status < 0) {
        return status;
    }
    for (int32_t i = 0; i < size; i++) {
        bcs_plan_receive(plan, from.index, bcs_block_cursor_data(&from),
                         bcs_block_cursor_bytes(&from));
        bcs_plan_send(plan, to.index, bcs_block_cursor_data(&to),
                      bcs_block_cursor_bytes(&to));
        bcs_block_cursor_next(&from);
        bcs_block_cursor_next(&to);
    }
    return bcs_plan_end(plan);
}

/** Begin a reduction; plan->peers is the other side. @return 0, -EINVAL or -ENOMEM */
static int begin_reducing(struct bcs_reducing *r, const char *call,
                          struct bcs_context *context, struct bcs_sides *sides,
                          enum bcs_plan_kind kind, struct bcs_request *request)
{
    int status = bcs_reducing_find(r, call);

    if (status == 0) {
        status = bcs_reducing_begin(r, context, &sides->both, kind, request);
    }
    if (status == 0) {
        r->rank = sides->mine.rank;
        r->size = sides->mine.size;
        r->plan->peers = &sides->others;
    }
    return status;
}

/**
 * Combine the vectors of this side's members, of at least one byte.
 *
 * @return rank 0's result, behind a fence; at others, or without memory, NULL
 */
static const void *plan_reduce_side(struct bcs_reducing *r,
                                    const struct bcs_sides *sides)
{
    size_t n_bytes = r->reduction->count * r->element_bytes;

    if (r->size == 1) {
        return r->reduction->in;
    }
    r->root = 0;
    r->out = r->rank == 0 ? bcs_plan_allocate(r->plan, n_bytes) : NULL;
    r->plan->peers = &sides->mine;
    bcs_plan_reduction(r);
    bcs_plan_fence(r->plan);
    r->plan->peers = &sides->others;
    return r->out;
}

/** Rank 0 of each side gives the other what its side has come to. */
static void plan_swap(const struct bcs_reducing *r, const void *combined, void *theirs)
{
    size_t n_bytes = r->reduction->count * r->element_bytes;

    if (r->rank == 0) {
        bcs_plan_receive(r->plan, 0, theirs, n_bytes);
        bcs_plan_send(r->plan, 0, combined, n_bytes);
    }
}

static void plan_reduce_to_all(struct bcs_reducing *r, const struct bcs_sides *sides)
{
    plan_swap(r, plan_reduce_side(r, sides), r->reduction->out);
    plan_tell_side(r->plan, sides, r->reduction->out,
                   r->reduction->count * r->element_bytes);
}

static void plan_reduce_to_root(struct bcs_reducing *r, const struct bcs_sides *sides,
                                int32_t root)
{
    size_t n_bytes = r->reduction->count * r->element_bytes;

    if (root == BCS_ROOT_SELF) {
        bcs_plan_receive(r->plan, 0, r->reduction->out, n_bytes);
    } else if (root != BCS_ROOT_OUR_SIDE) {
        const void *combined = plan_reduce_side(r, sides);

        if (r->rank == 0) {
            bcs_plan_send(r->plan, root, combined, n_bytes);
        }
    }
}

int bcs_across_reduce(struct bcs_context *context, struct bcs_sides *sides,
                      const struct bcs_reduction *reduction, int32_t root,
                      struct bcs_request *request)
{
    struct bcs_reducing r = {.reduction = reduction, .form = BCS_REDUCE};
    int status = root == BCS_ROOT_ALL || is_root_valid(sides, root) ? 0 : -EINVAL;

    if (status == 0) {
        status = begin_reducing(
            &r, "bcs_across_reduce", context, sides,
            root == BCS_ROOT_ALL ? BCS_PLAN_ALLREDUCE : BCS_PLAN_REDUCE, request);
    }
    if (status < 0) {
        return status;
    }
    if (reduction->count * r.element_bytes > 0) {
        if (root == BCS_ROOT_ALL) {
            plan_reduce_to_all(&r, sides);
        } else {
            plan_reduce_to_root(&r, sides, root);
        }
    }
    return bcs_plan_end(r.plan);
}

/** Rank 0 gives each member of this side its part of a vector, and itself. */
static void plan_share_out(const struct bcs_reducing *r, const struct bcs_sides *sides,
                           const char *vector, void *out)
{
    struct bcs_plan *plan = r->plan;
    size_t own_bytes = (r->parts[r->rank + 1] - r->parts[r->rank]) * r->element_bytes;

    bcs_plan_fence(plan);
    plan->peers = &sides->mine;
    if (r->rank != 0) {
        bcs_plan_receive(plan, 0, out, own_bytes);
        return;
    }
    for (int32_t i = 1; i < r->size; i++) {
        bcs_plan_send(plan, i, vector + r->parts[i] * r->element_bytes,
                      (r->parts[i + 1] - r->parts[i]) * r->element_bytes);
    }
    bcs_plan_copy(plan, out, vector, own_bytes);
}

int bcs_across_reduce_scatter(struct bcs_context *context, struct bcs_sides *sides,
                              const struct bcs_reduction *reduction,
                              const size_t counts[], struct bcs_request *request)
{
    struct bcs_reduction whole = *reduction;
    struct bcs_reducing r = {.reduction = reduction, .form = BCS_REDUCE};
    char *theirs = NULL;
    int status = begin_reducing(&r, "bcs_across_reduce_scatter", context, sides,
                                BCS_PLAN_REDUCE_SCATTER, request);

    if (status < 0) {
        return status;
    }
    if (bcs_reducing_find_parts(&r, counts) && r.parts[r.size] * r.element_bytes > 0) {
        whole.count = r.parts[r.size];
        r.reduction = &whole;
        if (r.rank == 0) {
            theirs = bcs_plan_allocate(r.plan, whole.count * r.element_bytes);
        }
        plan_swap(&r, plan_reduce_side(&r, sides), theirs);
        plan_share_out(&r, sides, theirs, reduction->out);
    }
    return bcs_plan_end(r.plan);
}
