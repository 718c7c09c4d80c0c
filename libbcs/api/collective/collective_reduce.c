/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls that reduce: reduce and allreduce, scan, reduce-scatter. Small vectors of
 * predefined types that one or all members get are combined by the NIC engine if the
 * call blocks; all others by the members (collective_shares.c), on the same tree. Runs
 * in the calling process.
 */
#include <bcs/bcs.h>
#include <errno.h>

#include "libbcs/api/collective/collective_internal.h"
#include "libbcs/api/collective/collective_shares.h"
#include "libbcs/api/collective/engine_collective.h"
#include "libbcs/fabric/base/log.h"
#include "nic_threads/rules/reduce_ops.h"

_Static_assert((int)BCS_SUM == NIC_REDUCE_SUM + 1 &&
                   (int)BCS_BXOR == NIC_REDUCE_BXOR + 1 &&
                   (int)BCS_INT8 == NIC_REDUCE_I8 &&
                   (int)BCS_DOUBLE_COMPLEX == NIC_REDUCE_C64,
               "the API's operations and types are the engine's");

int bcs_reducing_find(struct bcs_reducing *r, const char *call)
{
    const struct bcs_reduction *reduction = r->reduction;
    int kernel = -1;

    r->kernel = -1;
    r->element_bytes = reduction->element_bytes;
    if (reduction->op == BCS_OP_COMBINE) {
        return 0;
    }
    if (reduction->op <= BCS_BXOR && reduction->type <= BCS_DOUBLE_COMPLEX) {
        kernel = nic_reduce_kernel((enum nic_reduce_op)(reduction->op - 1),
                                   (enum nic_reduce_type)reduction->type);
    }
    if (kernel < 0) {
        bcs_error("%s: operation %d is not defined on type %d", call,
                  (int)reduction->op, (int)reduction->type);
        return -EINVAL;
    }
    r->kernel = kernel;
    r->element_bytes = nic_reduce_element_bytes(kernel);
    return 0;
}

/** bcs_reducing_begin. */
static inline int begin(struct bcs_reducing *r, struct bcs_context *context,
                        struct bcs_group *group, enum bcs_plan_kind kind,
                        struct bcs_request *request)
{
    int32_t root = kind == BCS_PLAN_REDUCE ? r->root : 0;

    r->plan =
        bcs_plan_begin(context, group, bcs_plan_agreed(kind, root, r->kernel), request);
    if (r->plan == NULL) {
        return -ENOMEM;
    }
    r->plan->combiner = (struct bcs_combiner){.kernel = r->kernel,
                                              .combine = r->reduction->combine,
                                              .arg = r->reduction->arg};
    r->rank = group->rank;
    r->size = group->size;
    r->out = r->reduction->out;
    return 0;
}

int bcs_reducing_begin(struct bcs_reducing *r, struct bcs_context *context,
                       struct bcs_group *group, enum bcs_plan_kind kind,
                       struct bcs_request *request)
{
    return begin(r, context, group, kind, request);
}

/** A group of one: the vector is the result. */
static void plan_alone(const struct bcs_reducing *r)
{
    if (r->form != BCS_EXCLUSIVE_SCAN) {
        bcs_plan_copy(r->plan, r->out, r->reduction->in,
                      r->reduction->count * r->element_bytes);
    }
}

static int reduce_by_engine(struct bcs_context *context, struct bcs_group *group,
                            const struct bcs_reduction *reduction, int32_t root,
                            int kernel)
{
    struct bcs_engine_collective_args args = {
        .kind = BCS_ENGINE_REDUCE,
        .root = root,
        .kernel = kernel,
        .count = reduction->count,
        .in = reduction->in,
        .out = reduction->out,
        .n_bytes = reduction->count * nic_reduce_element_bytes(kernel),
    };

    return bcs_engine_collective(context, group, &args);
}

/** The kind of a reduction that is not a reduce-scatter. */
static enum bcs_plan_kind kind_of(const struct bcs_reducing *r)
{
    switch (r->form) {
    case BCS_SCAN:
        return BCS_PLAN_SCAN;
    case BCS_EXCLUSIVE_SCAN:
        return BCS_PLAN_EXSCAN;
    default:
        return r->root == BCS_ROOT_ALL ? BCS_PLAN_ALLREDUCE : BCS_PLAN_REDUCE;
    }
}

/** Plan a reduction that is not a reduce-scatter. */
static int reduce_by_members(struct bcs_reducing *r, struct bcs_context *context,
                             struct bcs_group *group, struct bcs_request *request)
{
    int status = begin(r, context, group, kind_of(r), request);

    if (status < 0) {
        return status;
    }
    if (group->size == 1) {
        plan_alone(r);
    } else if (r->reduction->count * r->element_bytes > 0) {
        bcs_plan_reduction(r);
    }
    return bcs_plan_end(r->plan);
}

int bcs_api_reduce(struct bcs_context *context, struct bcs_group *group,
                   const struct bcs_reduction *reduction, int32_t root,
                   struct bcs_request *request)
{
    struct bcs_reducing r = {.reduction = reduction, .form = BCS_REDUCE, .root = root};
    size_t n_bytes;

    if ((root != BCS_ROOT_ALL && bcs_root_check("bcs_reduce", group, root) < 0) ||
        bcs_reducing_find(&r, "bcs_reduce") < 0) {
        return -EINVAL;
    }
    n_bytes = reduction->count * r.element_bytes;
    if (request == NULL && n_bytes > 0 && group->size > 1 && r.kernel >= 0 &&
        bcs_engine_collective_fits(n_bytes) &&
        (root == BCS_ROOT_ALL || bcs_group_spans_nodes(group)) &&
        !bcs_goes_by_messages(context, group)) {
        return reduce_by_engine(context, group, reduction, root, r.kernel);
    }
    return reduce_by_members(&r, context, group, request);
}

int bcs_api_scan(struct bcs_context *context, struct bcs_group *group,
                 const struct bcs_reduction *reduction, bool is_exclusive,
                 struct bcs_request *request)
{
    struct bcs_reducing r = {.reduction = reduction,
                             .form = is_exclusive ? BCS_EXCLUSIVE_SCAN : BCS_SCAN};

    if (bcs_reducing_find(&r, "bcs_scan") < 0) {
        return -EINVAL;
    }
    return reduce_by_members(&r, context, group, request);
}

bool bcs_reducing_find_parts(struct bcs_reducing *r, const size_t counts[])
{
    size_t *parts = bcs_plan_allocate(r->plan, ((size_t)r->size + 1) * sizeof(*parts));

    if (parts == NULL) {
        return false;
    }
    parts[0] = 0;
    for (int32_t i = 0; i < r->size; i++) {
        parts[i + 1] = parts[i] + (counts == NULL ? r->reduction->count : counts[i]);
    }
    r->parts = parts;
    return true;
}

static void plan_reduce_scatter(struct bcs_reducing *r)
{
    size_t own_bytes = (r->parts[r->rank + 1] - r->parts[r->rank]) * r->element_bytes;

    /* In place, the result would land on what is still to be sent. */
    if (r->reduction->in == r->reduction->out) {
        r->out = bcs_plan_allocate(r->plan, own_bytes);
        if (r->out == NULL) {
            return;
        }
    }
    bcs_plan_reduction(r);
    bcs_plan_fence(r->plan);
    bcs_plan_copy(r->plan, r->reduction->out, r->out, own_bytes);
}

int bcs_api_reduce_scatter(struct bcs_context *context, struct bcs_group *group,
                           const struct bcs_reduction *reduction, const size_t counts[],
                           struct bcs_request *request)
{
    struct bcs_reducing r = {.reduction = reduction, .form = BCS_REDUCE_SCATTER};
    int status;

    if (bcs_reducing_find(&r, "bcs_reduce_scatter") < 0) {
        return -EINVAL;
    }
    status = begin(&r, context, group, BCS_PLAN_REDUCE_SCATTER, request);
    if (status < 0) {
        return status;
    }
    if (bcs_reducing_find_parts(&r, counts) && r.parts[r.size] > 0 &&
        r.element_bytes > 0) {
        if (group->size == 1) {
            bcs_plan_copy(r.plan, r.out, reduction->in, r.parts[1] * r.element_bytes);
        } else {
            plan_reduce_scatter(&r);
        }
    }
    return bcs_plan_end(r.plan);
}
