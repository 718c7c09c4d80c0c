/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce and allreduce. Small vectors of predefined types are combined by the NIC
 * engine, all others here, by the members. Runs in the calling process.
 *
 * A vector is cut into one share for each member. Each member receives its share of
 * every vector, combines the shares in rank order on the fixed tree of reduce_ops, and
 * then passes the result on to those who want it. For short vectors one member owns the
 * whole, which takes fewest messages; long ones are cut evenly, in rounds that keep
 * the memory bounded. Every element thus goes through the same operations in the same
 * order whatever the cut, the root or the length.
 *
 * combine(left, right) leaves its result on the right, so the tree moves pointers
 * instead of data, and the last result always lands in the last member's vector: that
 * one is received right where the result is wanted.
 */
#include <bcs/bcs.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/api/collective_internal.h"
#include "libbcs/api/engine_collective.h"
#include "libbcs/base/log.h"
#include "nic_threads/reduce_ops.h"

/* One member combines the whole vector up to so many bytes for each member ... */
#define WHOLE_BYTES_PER_MEMBER 2048u
/* ... and up to this much memory for all members' vectors. */
#define WHOLE_MEMORY_BYTES (4u << 20)

/* Of one round of a vector that is cut evenly: for all shares, and for one share. */
#define ROUND_BYTES (1u << 20)
#define SHARE_MIN_BYTES (32u << 10)
#define SHARE_MAX_BYTES (512u << 10)

#define VECTOR_ALIGNMENT 64u

#define OWNER_EVEN (-1)

/* Elements of a vector. */
struct share {
    size_t first;
    size_t count;
};

/* A reduction in progress. */
struct plan {
    struct bcs_context *context;
    struct bcs_group *group;
    const struct bcs_reduction *reduction;
    int kernel; /* nic_reduce_kernel number, or -1 */
    size_t element_bytes;
    int root;            /* who wants the result; or BCS_ROOT_ALL */
    int32_t owner;       /* who combines; or OWNER_EVEN: everybody a share */
    size_t n_round;      /* elements of one round */
    size_t stride_bytes; /* from one member's vector in memory to the next */
    char *memory;
    char **vectors; /* [size] shares of the members, in rank order */
};

static struct share share_of(const struct plan *plan, struct share round,
                             int32_t member)
{
    struct share share = {.first = round.first};
    size_t size = (size_t)plan->group->size;
    size_t m = (size_t)member;

    if (plan->owner == OWNER_EVEN) {
        size_t each = round.count / size;
        size_t rest = round.count % size;

        share.first += m * each + (m < rest ? m : rest);
        share.count = each + (m < rest);
    } else {
        share.count = member == plan->owner ? round.count : 0;
    }
    return share;
}

static bool wants_result(const struct plan *plan)
{
    return plan->root == BCS_ROOT_ALL || plan->root == plan->group->rank;
}

static const char *in_at(const struct plan *plan, size_t element)
{
    return (const char *)plan->reduction->in + element * plan->element_bytes;
}

static char *out_at(const struct plan *plan, size_t element)
{
    return (char *)plan->reduction->out + element * plan->element_bytes;
}

/*
 * Choose where each member's share is kept. A vector that is only ever a left operand
 * is not changed: the own one then needs no copy. Input and output may be the same
 * memory, so the result may land there only if the own share is elsewhere or is last.
 */
static void place_vectors(const struct plan *plan, struct share own)
{
    int32_t last = plan->group->size - 1;
    int32_t rank = plan->group->rank;
    bool is_aliased = plan->reduction->in == plan->reduction->out;

    for (int32_t i = 0; i <= last; i++) {
        plan->vectors[i] = plan->memory + (size_t)i * plan->stride_bytes;
    }
    if (wants_result(plan) && (!is_aliased || rank == last)) {
        plan->vectors[last] = out_at(plan, own.first);
    }
    if (rank % 2 == 0 && rank < last) {
        plan->vectors[rank] = (char *)(uintptr_t)in_at(plan, own.first);
    } else {
        bcs_block_copy(plan->vectors[rank], in_at(plan, own.first),
                       own.count * plan->element_bytes);
    }
}

static int collect_shares(const struct plan *plan, struct share round, struct share own)
{
    size_t element_bytes = plan->element_bytes;
    int32_t size = plan->group->size;
    struct bcs_batch batch;

    bcs_batch_begin(&batch, plan->context, plan->group);
    for (int32_t step = 1; step < size; step++) {
        int32_t from = (plan->group->rank - step + size) % size;
        int32_t to = (int32_t)(((int64_t)plan->group->rank + step) % size);
        struct share theirs = share_of(plan, round, to);

        if (own.count > 0) {
            bcs_batch_receive(&batch, from, plan->vectors[from],
                              own.count * element_bytes);
        }
        bcs_batch_send(&batch, to, in_at(plan, theirs.first),
                       theirs.count * element_bytes);
    }
    return bcs_batch_wait(&batch);
}

/** right = left OP right */
static void combine_vectors(const struct plan *plan, const char *left, char *right,
                            size_t count)
{
    if (plan->kernel >= 0) {
        nic_reduce_apply(plan->kernel, left, right, count);
    } else {
        plan->reduction->combine(plan->reduction->arg, left, right, count);
    }
}

static const char *combine_on_tree(const struct plan *plan, size_t count)
{
    int64_t size = plan->group->size;

    for (int64_t step = 1; step < size; step *= 2) {
        for (int64_t i = 0; i + step < size; i += 2 * step) {
            char *right = plan->vectors[i + step];

            combine_vectors(plan, plan->vectors[i], right, count);
            plan->vectors[i] = right;
        }
    }
    return plan->vectors[0];
}

/* Everybody gives its combined share to the root, or to all. */
static int distribute_shares(const struct plan *plan, struct share round,
                             struct share own, const char *result)
{
    size_t element_bytes = plan->element_bytes;
    int32_t size = plan->group->size;
    struct bcs_batch batch;

    bcs_batch_begin(&batch, plan->context, plan->group);
    if (wants_result(plan)) {
        bcs_block_copy(out_at(plan, own.first), result, own.count * element_bytes);
    }
    for (int32_t step = 1; step < size; step++) {
        int32_t from = (plan->group->rank - step + size) % size;
        int32_t to = (int32_t)(((int64_t)plan->group->rank + step) % size);
        struct share theirs = share_of(plan, round, from);

        if (wants_result(plan)) {
            bcs_batch_receive(&batch, from, out_at(plan, theirs.first),
                              theirs.count * element_bytes);
        }
        if (plan->root == BCS_ROOT_ALL || plan->root == to) {
            bcs_batch_send(&batch, to, result, own.count * element_bytes);
        }
    }
    return bcs_batch_wait(&batch);
}

static int reduce_round(const struct plan *plan, struct share round)
{
    struct share own = share_of(plan, round, plan->group->rank);
    const char *result = NULL;
    int status;

    if (own.count > 0) {
        place_vectors(plan, own);
    }
    status = collect_shares(plan, round, own);
    if (status != 0) {
        return status;
    }
    if (own.count > 0) {
        result = combine_on_tree(plan, own.count);
    }
    return distribute_shares(plan, round, own, result);
}

static void plan_cut(struct plan *plan)
{
    size_t element_bytes = plan->element_bytes;
    size_t n_bytes = plan->reduction->count * element_bytes;
    size_t size = (size_t)plan->group->size;
    size_t share_bytes = ROUND_BYTES / size;

    if (n_bytes / size <= WHOLE_BYTES_PER_MEMBER &&
        n_bytes <= WHOLE_MEMORY_BYTES / size) {
        plan->owner = plan->root == BCS_ROOT_ALL ? 0 : plan->root;
        plan->n_round = plan->reduction->count;
        share_bytes = n_bytes;
    } else {
        plan->owner = OWNER_EVEN;
        share_bytes = share_bytes < SHARE_MIN_BYTES ? SHARE_MIN_BYTES : share_bytes;
        share_bytes = share_bytes > SHARE_MAX_BYTES ? SHARE_MAX_BYTES : share_bytes;
        share_bytes -= share_bytes % element_bytes;
        share_bytes = share_bytes < element_bytes ? element_bytes : share_bytes;
        plan->n_round = share_bytes / element_bytes * size;
    }
    plan->stride_bytes =
        (share_bytes + VECTOR_ALIGNMENT - 1) / VECTOR_ALIGNMENT * VECTOR_ALIGNMENT;
}

static int plan_allocate(struct plan *plan)
{
    size_t size = (size_t)plan->group->size;
    bool is_combining = plan->owner == OWNER_EVEN || plan->owner == plan->group->rank;

    if (!is_combining) {
        return 0;
    }
    plan->memory = malloc(size * (plan->stride_bytes + sizeof(*plan->vectors)));
    if (plan->memory == NULL) {
        return -ENOMEM;
    }
    plan->vectors = (char **)(void *)(plan->memory + size * plan->stride_bytes);
    return 0;
}

static int reduce_by_members(struct plan *plan)
{
    const struct bcs_reduction *reduction = plan->reduction;
    bool is_broadcast;
    int status;

    plan_cut(plan);
    is_broadcast = plan->root == BCS_ROOT_ALL && plan->owner != OWNER_EVEN;
    if (is_broadcast) {
        plan->root = plan->owner;
    }
    status = plan_allocate(plan);
    for (size_t done = 0; status == 0 && done < reduction->count;
         done += plan->n_round) {
        size_t left = reduction->count - done;
        struct share round = {done, left < plan->n_round ? left : plan->n_round};

        status = reduce_round(plan, round);
    }
    free(plan->memory);
    if (status == 0 && is_broadcast) {
        status = bcs_bcast(plan->context, plan->group, reduction->out,
                           reduction->count * plan->element_bytes, plan->owner);
    }
    return status;
}

static int reduce_by_engine(const struct plan *plan)
{
    const struct bcs_reduction *reduction = plan->reduction;
    struct bcs_engine_collective_args args = {
        .kind = BCS_ENGINE_REDUCE,
        .root = plan->root,
        .kernel = plan->kernel,
        .count = reduction->count,
        .in = reduction->in,
        .out = reduction->out,
        .n_bytes = reduction->count * plan->element_bytes,
    };

    return bcs_engine_collective(plan->context, plan->group, &args);
}

_Static_assert((int)BCS_SUM == NIC_REDUCE_SUM + 1 &&
                   (int)BCS_BXOR == NIC_REDUCE_BXOR + 1 &&
                   (int)BCS_INT8 == NIC_REDUCE_I8 &&
                   (int)BCS_DOUBLE_COMPLEX == NIC_REDUCE_C64,
               "the API's operations and types are the engine's");

/** Find out how elements are combined, and how long they are. @return 0 or -EINVAL */
static int plan_operation(struct plan *plan)
{
    const struct bcs_reduction *reduction = plan->reduction;

    if (reduction->op == BCS_OP_COMBINE) {
        plan->kernel = -1;
        plan->element_bytes = reduction->element_bytes;
        return 0;
    }
    if (reduction->op <= BCS_BXOR && reduction->type <= BCS_DOUBLE_COMPLEX) {
        plan->kernel = nic_reduce_kernel((enum nic_reduce_op)(reduction->op - 1),
                                         (enum nic_reduce_type)reduction->type);
    }
    if (plan->kernel < 0) {
        bcs_error("bcs_reduce: operation %d is not defined on type %d",
                  (int)reduction->op, (int)reduction->type);
        return -EINVAL;
    }
    plan->element_bytes = nic_reduce_element_bytes(plan->kernel);
    return 0;
}

int bcs_reduce(struct bcs_context *context, struct bcs_group *group,
               const struct bcs_reduction *reduction, int32_t root)
{
    struct plan plan = {
        .context = context,
        .group = group,
        .reduction = reduction,
        .kernel = -1,
        .root = root,
    };
    size_t n_bytes;

    if ((root != BCS_ROOT_ALL && bcs_root_check("bcs_reduce", group, root) < 0) ||
        plan_operation(&plan) < 0) {
        return -EINVAL;
    }
    n_bytes = reduction->count * plan.element_bytes;
    if (n_bytes == 0) {
        return 0;
    }
    if (group->size == 1) {
        bcs_block_copy(reduction->out, reduction->in, n_bytes);
        return 0;
    }
    if (plan.kernel >= 0 && bcs_engine_collective_fits(n_bytes) &&
        (root == BCS_ROOT_ALL || bcs_group_spans_nodes(group))) {
        return reduce_by_engine(&plan);
    }
    return reduce_by_members(&plan);
}
