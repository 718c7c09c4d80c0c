/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of the BCS API: every call with equal blocks and with blocks of different
 * lengths, packed and with gaps, in place and not, blocking or not. Run by every rank
 * of the group.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/api/calls.h"

static const size_t lengths[] = {1, 8, 100, 5000, 100000};

enum { N_LENGTHS = sizeof(lengths) / sizeof(lengths[0]), GAP_BYTES = 3 };

/** The shape of the blocks of a test. */
struct shape {
    size_t unit_bytes;
    bool is_vectorial; /* the block of rank i has unit_bytes * (i % 3) bytes */
    bool has_gaps;
};

/** Blocks with their memory. */
struct board {
    struct bcs_blocks blocks;
    size_t total_bytes;
    size_t *numbers;
};

/** A collective is done, and right. */
#define EXPECT_DONE(me, call) EXPECT(me, result_of(me, call) == 0)

static size_t block_bytes(const struct shape *shape, int32_t rank)
{
    return shape->is_vectorial ? shape->unit_bytes * (size_t)(rank % 3)
                               : shape->unit_bytes;
}

static struct board board_make(const struct place *me, const struct shape *shape)
{
    size_t n = (size_t)me->size, offset = 0;
    struct board board = {.numbers = calloc(2 * n, sizeof(size_t))};

    for (size_t i = 0; i < n; i++) {
        board.numbers[i] = block_bytes(shape, (int32_t)i);
        board.numbers[n + i] = offset;
        offset += board.numbers[i] + (shape->has_gaps ? GAP_BYTES : 0);
    }
    board.total_bytes = offset;
    board.blocks.data = calloc(1, offset + 1);
    board.blocks.block_bytes = shape->unit_bytes;
    board.blocks.n_bytes = shape->is_vectorial ? board.numbers : NULL;
    board.blocks.displacements = shape->has_gaps ? board.numbers + n : NULL;
    return board;
}

static void board_free(struct board *board)
{
    free(board->blocks.data);
    free(board->numbers);
}

static char *block_of(const struct place *me, const struct board *board, int32_t rank)
{
    return (char *)board->blocks.data + board->numbers[me->size + rank];
}

static void expect_block(struct place *me, const struct board *board, int32_t rank,
                         int32_t key)
{
    EXPECT(me, is_filled(block_of(me, board, rank), board->numbers[rank], key));
}

/** The gaps, and what is not to be written, are still zero. */
static void expect_gaps(struct place *me, const struct board *board)
{
    for (int32_t i = 0; board->blocks.displacements != NULL && i < me->size; i++) {
        const char *gap = block_of(me, board, i) + board->numbers[i];

        EXPECT(me, gap[0] == 0 && gap[1] == 0 && gap[2] == 0);
    }
}

static void gather_and_scatter(struct place *me, const struct shape *shape,
                               int32_t root)
{
    struct board board = board_make(me, shape);
    size_t n_bytes = block_bytes(shape, me->rank);
    char *mine = malloc(n_bytes + 1);
    const struct bcs_part part = {mine, n_bytes};
    bool is_root = me->rank == root, is_in_place = is_root && shape->has_gaps;

    fill(mine, n_bytes, me->rank + 20);
    if (is_in_place) {
        memcpy(block_of(me, &board, root), mine, n_bytes);
    }
    EXPECT_DONE(me, bcs_gather(me->context, me->group, is_in_place ? NULL : &part,
                               is_root ? &board.blocks : NULL, root, request_of(me)));
    for (int32_t i = 0; is_root && i < me->size; i++) {
        expect_block(me, &board, i, i + 20);
    }
    expect_gaps(me, &board);
    for (int32_t i = 0; is_root && i < me->size; i++) {
        fill(block_of(me, &board, i), board.numbers[i], i + 40);
    }
    EXPECT_DONE(me, bcs_scatter(me->context, me->group, is_in_place ? NULL : &part,
                                is_root ? &board.blocks : NULL, root, request_of(me)));
    EXPECT(me, is_in_place || is_filled(mine, n_bytes, me->rank + 40));
    board_free(&board);
    free(mine);
}

static void allgather(struct place *me, const struct shape *shape, bool is_in_place)
{
    struct board board = board_make(me, shape);
    size_t n_bytes = block_bytes(shape, me->rank);
    char *mine = malloc(n_bytes + 1);

    fill(mine, n_bytes, me->rank + 3);
    if (is_in_place) {
        memcpy(block_of(me, &board, me->rank), mine, n_bytes);
    }
    EXPECT_DONE(me, bcs_allgather(me->context, me->group, is_in_place ? NULL : mine,
                                  &board.blocks, request_of(me)));
    for (int32_t i = 0; i < me->size; i++) {
        expect_block(me, &board, i, i + 3);
    }
    expect_gaps(me, &board);
    board_free(&board);
    free(mine);
}

/** Blocks of one length. */
static void alltoall(struct place *me, const struct shape *shape, bool is_in_place)
{
    struct board from = board_make(me, shape), to = board_make(me, shape);
    struct bcs_blocks none = {.data = NULL};
    struct board *source = is_in_place ? &to : &from;

    for (int32_t i = 0; i < me->size; i++) {
        fill(block_of(me, source, i), source->numbers[i], me->rank * 16 + i);
    }
    EXPECT_DONE(me,
                bcs_alltoall(me->context, me->group, is_in_place ? &none : &from.blocks,
                             &to.blocks, request_of(me)));
    for (int32_t i = 0; i < me->size; i++) {
        expect_block(me, &to, i, i * 16 + me->rank);
    }
    expect_gaps(me, &to);
    board_free(&from);
    board_free(&to);
}

static size_t pair_bytes(const struct place *me, size_t unit_bytes, int32_t i)
{
    return unit_bytes * (size_t)((me->rank + i) % 3);
}

/** Vectorial: ranks i and j exchange blocks whose length depends on i + j. */
static void alltoall_pairs(struct place *me, size_t unit_bytes, bool is_in_place)
{
    size_t *sizes = calloc((size_t)me->size, sizeof(*sizes)), total = 0, offset = 0;
    struct bcs_blocks from = {.n_bytes = sizes}, to = {.n_bytes = sizes};
    char *out;

    for (int32_t i = 0; i < me->size; i++) {
        sizes[i] = pair_bytes(me, unit_bytes, i);
        total += sizes[i];
    }
    to.data = malloc(total + 1);
    from.data = is_in_place ? NULL : malloc(total + 1);
    out = is_in_place ? to.data : from.data;
    for (int32_t i = 0; i < me->size; i++) {
        fill(out + offset, sizes[i], me->rank * 16 + i);
        offset += sizes[i];
    }
    EXPECT_DONE(me, bcs_alltoall(me->context, me->group, &from, &to, request_of(me)));
    offset = 0;
    for (int32_t i = 0; i < me->size; i++) {
        EXPECT(me, is_filled((char *)to.data + offset, sizes[i], i * 16 + me->rank));
        offset += sizes[i];
    }
    free(from.data);
    free(to.data);
    free(sizes);
}

/** left becomes right unless it is zero: associative, and the order is seen. */
static void combine_last(void *arg, const void *left, void *right, size_t count)
{
    const int32_t *in = left;
    int32_t *inout = right;

    ++*(int *)arg;
    for (size_t i = 0; i < count; i++) {
        inout[i] = inout[i] == 0 ? in[i] : inout[i];
    }
}

static void reduce_own(struct place *me, size_t count, int32_t root)
{
    int32_t *in = malloc(count * sizeof(*in)), *out = calloc(count, sizeof(*out));
    int n_calls = 0;
    const struct bcs_reduction last = {
        .in = in,
        .out = out,
        .count = count,
        .op = BCS_OP_COMBINE,
        .element_bytes = sizeof(*in),
        .combine = combine_last,
        .arg = &n_calls,
    };

    for (size_t i = 0; i < count; i++) {
        in[i] = me->rank + 1;
    }
    EXPECT_DONE(me, bcs_reduce(me->context, me->group, &last, root, request_of(me)));
    for (size_t i = 0; (root == BCS_ROOT_ALL || root == me->rank) && i < count; i++) {
        EXPECT(me, out[i] == me->size);
    }
    free(in);
    free(out);
}

/** Sums of doubles, in place at those who get them; the same bits wherever they go. */
static void reduce_sum(struct place *me, size_t count, int32_t root)
{
    double *vector = malloc(count * sizeof(*vector)), first = 0;
    double n = me->size;
    const struct bcs_reduction sum = {
        .in = vector,
        .out = vector,
        .count = count,
        .op = BCS_SUM,
        .type = BCS_DOUBLE,
    };

    for (size_t i = 0; i < count; i++) {
        vector[i] = me->rank + 0.5;
    }
    EXPECT_DONE(me, bcs_reduce(me->context, me->group, &sum, root, request_of(me)));
    first = vector[0];
    for (size_t i = 0; (root == BCS_ROOT_ALL || root == me->rank) && i < count; i++) {
        EXPECT(me, vector[i] == first && vector[i] == n * n / 2);
    }
    free(vector);
}

static void reduce_bits(struct place *me)
{
    uint64_t in = UINT64_C(1) << me->rank, out = 0;
    int8_t least = (int8_t)(5 - me->rank), lowest = 0;
    struct bcs_reduction any = {
        .in = &in, .out = &out, .count = 1, .op = BCS_BOR, .type = BCS_UINT64};
    struct bcs_reduction min = {
        .in = &least, .out = &lowest, .count = 1, .op = BCS_MIN, .type = BCS_INT8};

    EXPECT_DONE(me,
                bcs_reduce(me->context, me->group, &any, BCS_ROOT_ALL, request_of(me)));
    EXPECT(me, out == (UINT64_C(1) << me->size) - 1);
    EXPECT_DONE(me,
                bcs_reduce(me->context, me->group, &min, BCS_ROOT_ALL, request_of(me)));
    EXPECT(me, lowest == 5 - (me->size - 1));
}

static bool is_all(const int32_t *words, size_t count, int32_t value)
{
    for (size_t i = 0; i < count; i++) {
        if (words[i] != value) {
            return false;
        }
    }
    return true;
}

/** Prefixes in both forms, by a predefined operation and an own one, in place or
 *  not. */
static void scan(struct place *me, size_t count, bool is_exclusive)
{
    int32_t *in = malloc(count * sizeof(*in)), *out = malloc(count * sizeof(*out));
    int32_t n = me->rank + (is_exclusive ? 0 : 1);
    int n_calls = 0;
    struct bcs_reduction reduction = {
        .in = in, .out = out, .count = count, .op = BCS_SUM, .type = BCS_INT32};

    for (size_t i = 0; i < count; i++) {
        in[i] = me->rank + 1;
        out[i] = -1;
    }
    EXPECT_DONE(
        me, bcs_scan(me->context, me->group, &reduction, is_exclusive, request_of(me)));
    EXPECT(me, is_all(out, count, n == 0 ? -1 : n * (n + 1) / 2));
    EXPECT(me, is_all(in, count, me->rank + 1));
    reduction.out = in;
    reduction.op = BCS_OP_COMBINE;
    reduction.element_bytes = sizeof(*in);
    reduction.combine = combine_last;
    reduction.arg = &n_calls;
    EXPECT_DONE(
        me, bcs_scan(me->context, me->group, &reduction, is_exclusive, request_of(me)));
    EXPECT(me, is_all(in, count, n == 0 ? 1 : n));
    free(in);
    free(out);
}

/** Parts of different lengths, or of one; in place or not. */
static void reduce_scatter(struct place *me, size_t count, bool is_vectorial,
                           bool is_in_place)
{
    size_t *counts = malloc((size_t)me->size * sizeof(*counts)), all = 0, before = 0;
    int64_t *in, *out, n = me->size;
    bool is_right = true;
    struct bcs_reduction reduction = {.count = count, .op = BCS_SUM, .type = BCS_INT64};

    for (int32_t i = 0; i < me->size; i++) {
        counts[i] = is_vectorial ? count * (size_t)(i % 3) : count;
        before += i < me->rank ? counts[i] : 0;
        all += counts[i];
    }
    in = malloc((all + 1) * sizeof(*in));
    out = is_in_place ? in : malloc((all + 1) * sizeof(*out));
    reduction.in = in;
    reduction.out = out;
    for (size_t i = 0; i < all; i++) {
        in[i] = (int64_t)i * (me->rank + 1);
    }
    EXPECT_DONE(me, bcs_reduce_scatter(me->context, me->group, &reduction,
                                       is_vectorial ? counts : NULL, request_of(me)));
    for (size_t i = 0; i < counts[me->rank]; i++) {
        is_right = is_right && out[i] == (int64_t)(before + i) * n * (n + 1) / 2;
    }
    EXPECT(me, is_right);
    if (!is_in_place) {
        free(out);
    }
    free(in);
    free(counts);
}

static void broadcast(struct place *me, size_t n_bytes, int32_t root)
{
    char *data = calloc(1, n_bytes + 1);

    if (me->rank == root) {
        fill(data, n_bytes, root + 9);
    }
    EXPECT_DONE(me,
                bcs_bcast(me->context, me->group, data, n_bytes, root, request_of(me)));
    EXPECT(me, is_filled(data, n_bytes, root + 9));
    free(data);
}

static void test_shapes(struct place *me, size_t unit_bytes)
{
    for (int k = 0; k < 4; k++) {
        struct shape shape = {unit_bytes, k % 2 == 1, k / 2 == 1};

        for (int32_t root = 0; root < me->size; root++) {
            gather_and_scatter(me, &shape, root);
        }
        allgather(me, &shape, false);
        allgather(me, &shape, true);
        if (!shape.is_vectorial) {
            alltoall(me, &shape, false);
            alltoall(me, &shape, true);
        }
    }
}

void test_collectives(struct place *me)
{
    for (size_t i = 0; i < N_LENGTHS; i++) {
        EXPECT_DONE(me, bcs_barrier(me->context, me->group, request_of(me)));
        for (int32_t root = 0; root < me->size; root++) {
            broadcast(me, lengths[i], root);
            reduce_own(me, lengths[i], root);
            reduce_sum(me, lengths[i], root);
        }
        for (int k = 0; k < 4; k++) {
            reduce_scatter(me, lengths[i], k % 2 == 1, k / 2 == 1);
        }
        scan(me, lengths[i], false);
        scan(me, lengths[i], true);
        reduce_own(me, lengths[i], BCS_ROOT_ALL);
        reduce_sum(me, lengths[i], BCS_ROOT_ALL);
        test_shapes(me, lengths[i]);
        alltoall_pairs(me, lengths[i], false);
        alltoall_pairs(me, lengths[i], true);
    }
    broadcast(me, 0, 0);
    reduce_bits(me);
}

enum { N_OUTSTANDING = 1000, N_ROOTS_A_CYCLE = 7 };

/** One of many at a time. */
struct outstanding {
    struct bcs_request request;
    int64_t value;
    int64_t sum;
};

static void start_one(struct place *me, struct outstanding *one, int i)
{
    struct bcs_reduction reduction = {.in = &one->value,
                                      .out = &one->sum,
                                      .count = 1,
                                      .op = BCS_SUM,
                                      .type = BCS_INT64};
    int32_t root = i % N_ROOTS_A_CYCLE % me->size;

    one->value = me->rank == root || i % 3 != 1 ? i : -1;
    one->sum = 0;
    if (i % 3 == 0) {
        EXPECT(me, bcs_barrier(me->context, me->group, &one->request) == 0);
    } else if (i % 3 == 1) {
        EXPECT(me, bcs_bcast(me->context, me->group, &one->value, sizeof(one->value),
                             root, &one->request) == 0);
    } else {
        EXPECT(me, bcs_reduce(me->context, me->group, &reduction, BCS_ROOT_ALL,
                              &one->request) == 0);
    }
}

void test_outstanding(struct place *me)
{
    struct outstanding *all = malloc(N_OUTSTANDING * sizeof(*all));
    int32_t right = (me->rank + 1) % me->size, token = me->rank;
    struct bcs_message send = message_of(me, right, 5, &token, sizeof(token));
    struct bcs_message receive = message_of(me, BCS_ANY_SOURCE, 5, &token, 4);
    struct bcs_request hop;

    for (int i = 0; i < N_OUTSTANDING; i++) {
        start_one(me, &all[i], i);
        if (i % 100 == 99) {
            EXPECT(me, bcs_barrier(me->context, me->group, NULL) == 0);
            EXPECT(me, bcs_send(me->context, &send, BCS_SEND_STANDARD, &hop) == 0);
            EXPECT(me, bcs_recv(me->context, &receive, NULL, NULL) == 0);
            EXPECT(me, bcs_test(me->context, &hop, true) == 0);
        }
    }
    for (int i = N_OUTSTANDING - 1; i >= 0; i -= 2) {
        EXPECT(me, bcs_test(me->context, &all[i].request, true) == 0);
    }
    for (int i = 0; i < N_OUTSTANDING; i++) {
        while (bcs_test(me->context, &all[i].request, false) != 0) {
        }
        EXPECT(me, i % 3 != 1 || all[i].value == i);
        EXPECT(me, i % 3 != 2 || all[i].sum == (int64_t)i * me->size);
    }
    free(all);
}
