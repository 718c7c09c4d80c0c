/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions by the members, as steps of plans. Runs in the calling process.
 *
 * A vector is cut into one share for each member. Each member receives its share of
 * every vector, combines the shares in rank order, and then passes the results on to
 * those who want them. For short vectors one member owns the whole, which takes fewest
 * messages, or, where slices are dearer than messages, all members own the whole; long
 * ones are cut evenly, in rounds that keep the memory bounded; in a reduce-scatter, a
 * member's share is the part that it wants. Every element thus goes through the same
 * operations in the same order whatever the cut, the root, the length, or whether the
 * call blocks: on the fixed tree of reduce_ops, or in a scan from rank 0 upwards.
 *
 * combine(left, right) leaves its result on the right. So the tree moves pointers
 * instead of data, and the last result always lands in the last member's vector: that
 * one is received right where the result is wanted. In a scan, each member's vector
 * becomes its own result.
 */
#include "libbcs/api/collective/collective_shares.h"

#include "libbcs/api/collective/collective_internal.h"

/* One member combines the whole vector up to limits.whole_bytes for each member, and up
 * to this much memory for all members' vectors. */
#define WHOLE_MEMORY_BYTES (4u << 20)

/* Of one round of a vector that is cut: for all shares, and for one share, which is not
 * more than limits.share_bytes. */
#define ROUND_BYTES (1u << 20)
#define SHARE_MIN_BYTES (32u << 10)

#define VECTOR_ALIGNMENT 64u

#define OWNER_NONE (-1)
#define OWNER_EACH (-2)

/** Elements of a vector. */
struct share {
    size_t first;
    size_t count;
};

static struct share share_of(const struct bcs_reducing *r, struct share round,
                             int32_t member)
{
    size_t size = (size_t)r->size, m = (size_t)member;
    struct share share = round;

    if (r->form == BCS_REDUCE_SCATTER) {
        size_t part = r->parts[m + 1] - r->parts[m];
        size_t left = part > round.first ? part - round.first : 0;

        share.first = r->parts[m] + round.first;
        share.count = left < round.count ? left : round.count;
    } else if (r->owner == OWNER_NONE) {
        size_t each = round.count / size, rest = round.count % size;

        share.first += m * each + (m < rest ? m : rest);
        share.count = each + (m < rest);
    } else if (r->owner != OWNER_EACH && member != r->owner) {
        share.count = 0;
    }
    return share;
}

/** Whether what a member has combined is for itself alone. */
static bool is_kept(const struct bcs_reducing *r)
{
    return r->form == BCS_REDUCE_SCATTER || r->owner == OWNER_EACH;
}

/** Whether a member gets a result of a share that this member has combined. */
static bool gets_result(const struct bcs_reducing *r, int32_t member)
{
    if (is_kept(r) && member != r->rank) {
        return false;
    }
    switch (r->form) {
    case BCS_REDUCE:
        return r->root == BCS_ROOT_ALL || r->root == member;
    case BCS_EXCLUSIVE_SCAN:
        return member > 0;
    default:
        return true;
    }
}

static bool is_scan(const struct bcs_reducing *r)
{
    return r->form == BCS_SCAN || r->form == BCS_EXCLUSIVE_SCAN;
}

/** Whether a member combines another one's vector: in a scan for itself alone, only
 *  those before it. */
static bool is_needed(const struct bcs_reducing *r, int32_t of, int32_t by)
{
    return !is_scan(r) || r->owner != OWNER_EACH || of < by;
}

/** Where this member's combined share has a member's result. */
static const char *result_for(const struct bcs_reducing *r, int32_t member)
{
    switch (r->form) {
    case BCS_SCAN:
        return r->vectors[member];
    case BCS_EXCLUSIVE_SCAN:
        return r->vectors[member - 1];
    default:
        return r->vectors[r->size - 1];
    }
}

static const char *in_at(const struct bcs_reducing *r, size_t element)
{
    return (const char *)r->reduction->in + element * r->element_bytes;
}

/** Where a share of the result is wanted. */
static char *out_at(const struct bcs_reducing *r, size_t element)
{
    size_t first = r->form == BCS_REDUCE_SCATTER ? r->parts[r->rank] : 0;

    return r->out + (element - first) * r->element_bytes;
}

/*
 * Choose where each member's share is kept. A vector that is only ever a left operand
 * is not changed: the own one then needs no copy. Input and output may be the same
 * memory, so the result may land there only if the own share is elsewhere or is last.
 */
static void place_vectors(const struct bcs_reducing *r, struct share own)
{
    bool is_tree = !is_scan(r);
    bool is_aliased = r->reduction->in == r->out;
    int32_t last = r->size - 1, rank = r->rank;

    for (int32_t i = 0; i <= last; i++) {
        r->vectors[i] = r->memory + (size_t)i * r->stride_bytes;
    }
    if (is_tree && gets_result(r, rank) && (!is_aliased || rank == last)) {
        r->vectors[last] = out_at(r, own.first);
    }
    if (is_tree ? rank % 2 == 0 && rank < last : rank == 0) {
        r->vectors[rank] = (char *)(uintptr_t)in_at(r, own.first);
    } else {
        bcs_plan_copy(r->plan, r->vectors[rank], in_at(r, own.first),
                      own.count * r->element_bytes);
    }
}

static void collect_shares(const struct bcs_reducing *r, struct share round,
                           struct share own)
{
    for (int32_t step = 1; step < r->size; step++) {
        int32_t from = bcs_ring_member(r->rank, -step, r->size);
        int32_t to = bcs_ring_member(r->rank, step, r->size);
        struct share theirs = share_of(r, round, to);

        if (own.count > 0 && is_needed(r, from, r->rank)) {
            bcs_plan_receive(r->plan, from, r->vectors[from],
                             own.count * r->element_bytes);
        }
        if (is_needed(r, r->rank, to)) {
            bcs_plan_send(r->plan, to, in_at(r, theirs.first),
                          theirs.count * r->element_bytes);
        }
    }
}

/** The fixed tree; the result ends up in the last vector. */
static void combine_on_tree(const struct bcs_reducing *r, size_t count)
{
    for (int64_t step = 1; step < r->size; step *= 2) {
        for (int64_t i = 0; i + step < r->size; i += 2 * step) {
            char *right = r->vectors[i + step];

            bcs_plan_combine(r->plan, r->vectors[i], right, count);
            r->vectors[i] = right;
        }
    }
}

static void combine_in_turn(const struct bcs_reducing *r, size_t count)
{
    int32_t n = r->owner == OWNER_EACH ? r->rank + 1 : r->size;

    for (int32_t i = 1; i < n; i++) {
        bcs_plan_combine(r->plan, r->vectors[i - 1], r->vectors[i], count);
    }
}

/** Everybody gives the results of its share to those who get them. */
static void distribute_shares(const struct bcs_reducing *r, struct share round,
                              struct share own)
{
    bool is_wanted = gets_result(r, r->rank);

    if (own.count > 0 && is_wanted) {
        bcs_plan_copy(r->plan, out_at(r, own.first), result_for(r, r->rank),
                      own.count * r->element_bytes);
    }
    for (int32_t step = 1; !is_kept(r) && step < r->size; step++) {
        int32_t from = bcs_ring_member(r->rank, -step, r->size);
        int32_t to = bcs_ring_member(r->rank, step, r->size);
        struct share theirs = share_of(r, round, from);

        if (is_wanted) {
            bcs_plan_receive(r->plan, from, out_at(r, theirs.first),
                             theirs.count * r->element_bytes);
        }
        if (own.count > 0 && gets_result(r, to)) {
            bcs_plan_send(r->plan, to, result_for(r, to), own.count * r->element_bytes);
        }
    }
}

static void plan_round(const struct bcs_reducing *r, struct share round)
{
    struct share own = share_of(r, round, r->rank);

    bcs_plan_fence(r->plan);
    if (own.count > 0) {
        place_vectors(r, own);
    }
    collect_shares(r, round, own);
    bcs_plan_fence(r->plan);
    if (own.count > 0 && is_scan(r)) {
        combine_in_turn(r, own.count);
    } else if (own.count > 0) {
        combine_on_tree(r, own.count);
    }
    distribute_shares(r, round, own);
}

/** Elements of the longest part. */
static size_t longest_part(const struct bcs_reducing *r)
{
    size_t longest = 0;

    for (int32_t i = 0; i < r->size; i++) {
        size_t n = r->parts[i + 1] - r->parts[i];

        longest = n > longest ? n : longest;
    }
    return longest;
}

/** Whether whole vectors are combined. In a scan, programs count on it that their own
 *  function gets them whole, as MPI libraries do it. */
static bool is_combined_whole(const struct bcs_reducing *r, size_t n_bytes)
{
    size_t size = (size_t)r->size;

    if (r->form == BCS_REDUCE_SCATTER || n_bytes > WHOLE_MEMORY_BYTES / size) {
        return false;
    }
    return n_bytes / size <= r->plan->context->config.limits.whole_bytes ||
           (r->kernel < 0 && r->form != BCS_REDUCE);
}

/** Who combines whole vectors. */
static int32_t whole_owner(const struct bcs_reducing *r, size_t n_bytes)
{
    if (r->form == BCS_REDUCE && r->root != BCS_ROOT_ALL) {
        return r->root;
    }
    return bcs_saves_rounds(r->plan->context, r->size, n_bytes) ? OWNER_EACH : 0;
}

/** @return elements of the vector that go through the rounds */
static size_t choose_cut(struct bcs_reducing *r)
{
    size_t n_all =
        r->form == BCS_REDUCE_SCATTER ? longest_part(r) : r->reduction->count;
    size_t n_bytes = n_all * r->element_bytes, size = (size_t)r->size;
    size_t share_bytes = ROUND_BYTES / size;
    size_t most_bytes = r->plan->context->config.limits.share_bytes;

    if (is_combined_whole(r, n_bytes)) {
        r->owner = whole_owner(r, n_bytes);
        r->n_round = n_all;
        share_bytes = n_bytes;
    } else {
        r->owner = OWNER_NONE;
        share_bytes = share_bytes < SHARE_MIN_BYTES ? SHARE_MIN_BYTES : share_bytes;
        share_bytes = share_bytes > most_bytes ? most_bytes : share_bytes;
        share_bytes -= share_bytes % r->element_bytes;
        share_bytes = share_bytes < r->element_bytes ? r->element_bytes : share_bytes;
        r->n_round = share_bytes / r->element_bytes;
        if (r->form == BCS_REDUCE_SCATTER) {
            r->n_round = r->n_round < n_all ? r->n_round : n_all;
            share_bytes = r->n_round * r->element_bytes;
        } else {
            r->n_round *= size;
        }
    }
    r->stride_bytes =
        (share_bytes + VECTOR_ALIGNMENT - 1) / VECTOR_ALIGNMENT * VECTOR_ALIGNMENT;
    return n_all;
}

/** @return whether there was memory */
static bool allocate_vectors(struct bcs_reducing *r)
{
    size_t size = (size_t)r->size;

    if (r->owner >= 0 && r->owner != r->rank) {
        return true; /* combines nothing */
    }
    r->memory =
        bcs_plan_allocate(r->plan, size * (r->stride_bytes + sizeof(*r->vectors)));
    if (r->memory == NULL) {
        return false;
    }
    r->vectors = (char **)(void *)(r->memory + size * r->stride_bytes);
    return true;
}

void bcs_plan_reduction(struct bcs_reducing *r)
{
    size_t n_all = choose_cut(r);
    bool is_broadcast =
        r->form == BCS_REDUCE && r->root == BCS_ROOT_ALL && r->owner >= 0;

    if (is_broadcast) {
        r->root = r->owner;
    }
    if (!allocate_vectors(r)) {
        return;
    }
    for (size_t done = 0; done < n_all; done += r->n_round) {
        size_t left = n_all - done;

        plan_round(r, (struct share){done, left < r->n_round ? left : r->n_round});
    }
    if (is_broadcast) {
        bcs_plan_fence(r->plan);
        bcs_plan_bcast(r->plan, r->out, r->reduction->count * r->element_bytes,
                       r->owner);
    }
}
