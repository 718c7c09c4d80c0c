/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The collective patterns. Run by every rank of a job, process or thread.
 */
#include <stdlib.h>
#include <string.h>

#include "libbcs/api/collective/plan.h"
#include "nic_threads/rules/reduce_ops.h"
#include "tests/engine/patterns.h"
#include <bcs/bcs.h>

#ifdef __SANITIZE_THREAD__
enum { N_ROUNDS = 5 };
#else
enum { N_ROUNDS = 30 };
#endif

void pattern_barriers(struct rank *me)
{
    _Atomic uint64_t *counter = &me->job->shared->words[0];

    rank_open_world(me);
    for (uint64_t round = 1; round <= 5 * N_ROUNDS; round++) {
        uint64_t n = round * (uint64_t)me->size;

        /* relaxed: the barrier must order it */
        atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
        rank_expect(me, bcs_barrier(me->context, &me->world, NULL) == 0,
                    "a barrier failed");
        rank_expect(me, atomic_load_explicit(counter, memory_order_relaxed) >= n,
                    "a barrier was left too early");
        rank_expect(me,
                    atomic_load_explicit(counter, memory_order_relaxed) <
                        n + (uint64_t)me->size,
                    "a barrier was passed twice");
    }
}

/** Broadcast count words from a root, then sum what each rank makes of them. */
static void broadcast_and_reduce(struct rank *me, size_t count, int root, int64_t key)
{
    int64_t *in = malloc(count * sizeof(*in)), *out = malloc(count * sizeof(*out));
    int64_t size = me->size;
    const struct bcs_reduction reduction = {
        .in = in,
        .out = out,
        .count = count,
        .op = BCS_SUM,
        .type = BCS_INT64,
    };
    bool is_to_all = key % 2 == 0;

    for (size_t i = 0; i < count; i++) {
        in[i] = me->rank == root ? key + (int64_t)i : -1;
    }
    rank_expect(
        me,
        bcs_bcast(me->context, &me->world, in, count * sizeof(*in), root, NULL) == 0,
        "a broadcast failed");
    for (size_t i = 0; i < count; i++) {
        rank_expect(me, in[i] == key + (int64_t)i, "a wrong word of a broadcast");
        in[i] += me->rank;
    }
    rank_expect(me,
                bcs_reduce(me->context, &me->world, &reduction,
                           is_to_all ? BCS_ROOT_ALL : root, NULL) == 0,
                "a reduction failed");
    for (size_t i = 0; (is_to_all || me->rank == root) && i < count; i++) {
        rank_expect(me, out[i] == size * (key + (int64_t)i) + size * (size - 1) / 2,
                    "a wrong sum");
    }
    free(in);
    free(out);
}

void pattern_reductions(struct rank *me)
{
    static const size_t counts[] = {1, 3, 10, 11, 1000, 9000, 20000};

    rank_open_world(me);
    for (int64_t round = 0; round < N_ROUNDS; round++) {
        size_t count = counts[round % 4];

        broadcast_and_reduce(me, count, (int)(round % me->size), round);
    }
    for (int64_t i = 4; i < 7; i++) {
        broadcast_and_reduce(me, counts[i], (int)(i % me->size), 100 + i);
        broadcast_and_reduce(me, counts[i], (int)(i % me->size), 101 + i);
    }
}

static uint32_t word_of(int32_t from, int32_t to, size_t at)
{
    return (uint32_t)(from * 1000003 + to * 10007 + (int32_t)at);
}

void pattern_pending_collectives(struct rank *me)
{
    enum { N_PENDING = 8 };
    struct bcs_request requests[2 * N_PENDING];
    uint64_t in[N_PENDING][JOB_MAX_RANKS], out[JOB_MAX_RANKS];
    size_t lengths[JOB_MAX_RANKS];
    struct bcs_blocks from = {.data = out, .n_bytes = lengths};
    int rc = 0;

    rank_open_world(me);
    for (int32_t i = 0; i < me->size; i++) {
        out[i] = word_of(me->rank, i, 0);
        lengths[i] = sizeof(out[i]);
    }
    for (int round = 0; round < N_ROUNDS / 10; round++) {
        for (int i = 0; i < N_PENDING; i++) {
            struct bcs_blocks to = {.data = in[i], .n_bytes = lengths};

            rc |= bcs_barrier(me->context, &me->world, &requests[2 * i]);
            rc |=
                bcs_alltoall(me->context, &me->world, &from, &to, &requests[2 * i + 1]);
        }
        rc |= bcs_testall(me->context, requests, 2 * N_PENDING, true);
        for (int i = 0; i < N_PENDING * me->size; i++) {
            int32_t peer = i % me->size;

            rank_expect(me, in[i / me->size][peer] == word_of(peer, me->rank, 0),
                        "a wrong word of a pending alltoall");
        }
    }
    rank_expect(me, rc == 0, "a pending collective failed");
}

/** Exchange blocks of so many words between all ranks, in every way. */
static void exchange(struct rank *me, size_t count)
{
    size_t n = (size_t)me->size, block_bytes = count * sizeof(uint32_t);
    uint32_t *out = malloc(n * block_bytes), *in = calloc(n, block_bytes);
    size_t lengths[JOB_MAX_RANKS];
    struct bcs_blocks from = {.data = out, .n_bytes = lengths};
    struct bcs_blocks to = {.data = in, .n_bytes = lengths};
    const struct bcs_part mine = {out, block_bytes};
    int root = (int)(count % n), rc;

    for (size_t i = 0; i < n; i++) {
        lengths[i] = block_bytes;
        for (size_t at = 0; at < count; at++) {
            out[i * count + at] = word_of(me->rank, (int32_t)i, at);
        }
    }
    rc = bcs_alltoall(me->context, &me->world, &from, &to, NULL);
    for (size_t i = 0; i < n * count; i++) {
        rank_expect(me, in[i] == word_of((int32_t)(i / count), me->rank, i % count),
                    "a wrong word of an alltoall");
    }
    memset(in, 0, n * block_bytes);
    rc |= bcs_allgather(me->context, &me->world, out, &to, NULL);
    for (size_t i = 0; i < n * count; i++) {
        rank_expect(me, in[i] == word_of((int32_t)(i / count), 0, i % count),
                    "a wrong word of an allgather");
    }
    memset(in, 0, n * block_bytes);
    rc |= bcs_gather(me->context, &me->world, &mine, &to, root, NULL);
    rc |= bcs_scatter(me->context, &me->world, &mine, &to, root, NULL);
    for (size_t at = 0; at < count; at++) { /* the root has gathered all blocks for 0 */
        rank_expect(me, out[at] == word_of(me->rank, 0, at), "a wrong word came back");
    }
    rank_expect(me, rc == 0, "an exchange failed");
    free(out);
    free(in);
}

void pattern_exchanges(struct rank *me)
{
    static const size_t counts[] = {1, 5, 200, 3000, 20000};

    rank_open_world(me);
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        exchange(me, counts[i]);
        exchange(me, counts[i] + 1);
    }
}

static bool is_part_on_its_way(const struct rank *me)
{
    const struct nic_engine *engine = me->context->engine;
    const struct nic_view *view = nic_engine_view_at(engine, 0);

    for (uint32_t from = 1; from < engine->n_nodes; from++) {
        if (__atomic_load_n(&nic_view_wire_end(view, from)->arrived.count,
                            __ATOMIC_ACQUIRE) > 0) {
            return true;
        }
    }
    return false;
}

void pattern_late_opening(struct rank *me)
{
    const struct nic_engine *engine = me->context->engine;
    bool is_late = me->rank < (int32_t)engine->layout.shape.node_ranks;
    int64_t in = me->rank + 1, out = 0;
    const struct bcs_reduction reduction = {
        .in = &in,
        .out = &out,
        .count = 1,
        .op = BCS_SUM,
        .type = BCS_INT64,
    };

    /* Until a contribution has come to the node that has not opened the group yet; then
     * the turns below take it out of the wire. */
    while (engine->n_nodes > 1 && is_late && !is_part_on_its_way(me)) {
        me->context->driver->progress(me->context->engine);
    }
    for (int i = 0; i < 100; i++) {
        me->context->driver->progress(me->context->engine);
    }
    rank_open_world(me);
    rank_expect(me, bcs_reduce(me->context, &me->world, &reduction, 0, NULL) == 0,
                "a reduction failed");
    rank_expect(me, me->rank > 0 || out == me->size * (me->size + 1) / 2,
                "a wrong sum");
}

/** One collective that the engine carries out; the vectors hold two words. */
struct call {
    enum { BARRIER, ALLREDUCE, ALLGATHER, BROADCAST } kind;
    size_t count;
    enum bcs_op op;
    enum bcs_type type;
    int32_t root;
};

static int carry_out(struct rank *me, const struct call *call, int64_t in[],
                     int64_t out[])
{
    const struct bcs_reduction reduction = {
        .in = in, .out = out, .count = call->count, .op = call->op, .type = call->type};
    size_t lengths[JOB_MAX_RANKS] = {sizeof(*in)};
    const struct bcs_blocks blocks = {.data = out, .n_bytes = lengths};

    switch (call->kind) {
    case ALLREDUCE:
        return bcs_reduce(me->context, &me->world, &reduction, BCS_ROOT_ALL, NULL);
    case ALLGATHER: /* rank 0 has all of it */
        return bcs_allgather(me->context, &me->world, NULL, &blocks, NULL);
    case BROADCAST:
        return bcs_bcast(me->context, &me->world, in, call->count * sizeof(*in),
                         call->root, NULL);
    default:
        return bcs_barrier(me->context, &me->world, NULL);
    }
}

void pattern_disagreements(struct rank *me)
{
    static const struct call sum = {ALLREDUCE, 1, BCS_SUM, BCS_INT64, 0};
    static const struct {
        struct call most, last;
        int status;
    } cases[] = {
        {sum, {.kind = BARRIER}, BCS_E_DISAGREED},
        {sum, {ALLREDUCE, 2, BCS_SUM, BCS_INT64, 0}, BCS_E_TRUNCATED},
        {sum, {ALLREDUCE, 1, BCS_MAX, BCS_INT64, 0}, BCS_E_DISAGREED},
        {sum, {ALLREDUCE, 1, BCS_SUM, BCS_DOUBLE, 0}, BCS_E_DISAGREED},
        {{ALLREDUCE, 1, BCS_BOR, BCS_UINT64, 0}, {.kind = ALLGATHER}, BCS_E_DISAGREED},
        {{.kind = BROADCAST, .count = 1, .root = 0},
         {.kind = BROADCAST, .count = 1, .root = 1},
         BCS_E_DISAGREED},
    };
    bool is_last = me->rank == me->size - 1;

    rank_open_world(me);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t in[2] = {me->rank, 0}, out[2] = {-1, -1};

        if (cases[i].most.kind == BROADCAST && !bcs_group_spans_nodes(&me->world)) {
            continue; /* by messages */
        }
        rank_expect(me,
                    carry_out(me, is_last ? &cases[i].last : &cases[i].most, in, out) ==
                        cases[i].status,
                    "a collective that not all mean is not refused");
        rank_expect(me,
                    carry_out(me, &sum, in, out) == 0 &&
                        out[0] == me->size * (me->size - 1) / 2,
                    "a collective after a refused one is wrong");
    }
}

/** An allreduce of words, of which the last rank has twice as many. */
static int reduce_unequal(struct rank *me, size_t count, bool has_request)
{
    bool is_last = me->rank == me->size - 1;
    int64_t *words = calloc(2 * count, sizeof(*words));
    const struct bcs_reduction reduction = {.in = words,
                                            .out = words,
                                            .count = is_last ? 2 * count : count,
                                            .op = BCS_SUM,
                                            .type = BCS_INT64};
    struct bcs_request request;
    int status = bcs_reduce(me->context, &me->world, &reduction, BCS_ROOT_ALL,
                            has_request ? &request : NULL);

    if (status == 0 && has_request) {
        status = bcs_test(me->context, &request, true);
    }
    free(words);
    return status;
}

static void broadcast_unequal(struct rank *me, size_t n_bytes)
{
    bool is_last = me->rank == me->size - 1;
    char *data = calloc(2, n_bytes);
    int status = bcs_bcast(me->context, &me->world, data,
                           is_last ? 2 * n_bytes : n_bytes, 0, NULL);

    rank_expect(me, status == (is_last ? BCS_E_TRUNCATED : 0), "a wrong length passes");
    free(data);
}

/** Rank 0 broadcasts while rank 1 waits for its part of a scatter. */
static void take_no_others_data(struct rank *me)
{
    uint8_t data[100] = {0};
    const struct bcs_part mine = {data, sizeof(data)};
    uint64_t number = 2 * me->world.n_started[1] + 1;
    struct bcs_message message =
        rank_message(me, 1,
                     (int32_t)(number | bcs_plan_agreed(BCS_PLAN_SCATTER, 0, -1)
                                            << BCS_PLAN_NUMBER_BITS),
                     data, sizeof(data));
    struct bcs_request request = BCS_REQUEST_DONE;

    message.reserved[0] = BCS_SPACE_COLLECTIVE;
    if (me->rank == 0) {
        bcs_bcast(me->context, &me->world, data, sizeof(data), 0, &request);
        bcs_test(me->context, &request, true);
    } else if (me->rank == 1) {
        bcs_scatter(me->context, &me->world, &mine, NULL, 0, &request);
    }
    bcs_barrier(me->context, &me->world, NULL);
    rank_expect(
        me, me->rank != 1 || bcs_test(me->context, &request, false) == BCS_E_PENDING,
        "a scatter has taken the data of a broadcast");
    bcs_barrier(me->context, &me->world, NULL);
    if (me->rank == 0) {
        bcs_send(me->context, &message, BCS_SEND_BUFFERED, NULL);
    } else if (me->rank == 1) {
        bcs_test(me->context, &request, true);
    }
    bcs_barrier(me->context, &me->world, NULL);
}

void pattern_unequal_lengths(struct rank *me)
{
    static const size_t counts[] = {50, 20000}; /* one way for both lengths */

    rank_open_world(me);
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        rank_expect(me,
                    reduce_unequal(me, counts[i], false) == BCS_E_TRUNCATED &&
                        reduce_unequal(me, counts[i], true) == BCS_E_TRUNCATED,
                    "a reduction of unequal vectors passes");
        rank_expect(me, bcs_barrier(me->context, &me->world, NULL) == 0, "no barrier");
        broadcast_unequal(me, counts[i] * sizeof(int64_t));
    }
    take_no_others_data(me);
}
