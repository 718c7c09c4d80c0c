/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives across the sides of an intercommunicator, of three and of two members:
 * each side gets what the other one gives.
 */
#include "libbcs/api/collective/collective_across.h"

#include <errno.h>

#include "tests/unit/collective_job.h"
#include "tests/unit/run_suite.h"

enum { N_LEFT = 3 };

/** An intercommunicator of ranks 0 to 2 and 3 to 4, as a member has it. */
struct across {
    struct bcs_context *context;
    struct bcs_sides sides;
    int32_t rank, n_others,
        other_first; /* in the job: the first one of the other side */
    uint32_t ports[N_RANKS];
};

static void across_open(struct across *a, struct ranks_rank *rank)
{
    bool is_left;

    a->context = join(rank);
    a->rank = bcs_group_rank(bcs_world(a->context));
    is_left = a->rank < N_LEFT;
    a->other_first = is_left ? N_LEFT : 0;
    a->n_others = is_left ? N_RANKS - N_LEFT : N_LEFT;
    for (uint32_t i = 0; i < N_RANKS; i++) {
        a->ports[i] = i;
    }
    a->sides.both = *bcs_world(a->context);
    a->sides.mine = (struct bcs_group){.context_id = 1002,
                                       .rank = is_left ? a->rank : a->rank - N_LEFT,
                                       .size = N_RANKS - a->n_others,
                                       .ports = a->ports + (is_left ? 0 : N_LEFT),
                                       .ranks = a->ports + (is_left ? 0 : N_LEFT)};
    a->sides.others = (struct bcs_group){.context_id = 1004,
                                         .rank = a->sides.mine.rank,
                                         .size = a->n_others,
                                         .ports = a->ports + a->other_first,
                                         .ranks = a->ports + a->other_first};
}

/** The root as a member names it. @param root  rank in the job */
static int32_t root_of(const struct across *a, int32_t root)
{
    return root == a->rank                         ? BCS_ROOT_SELF
           : (root < N_LEFT) == (a->rank < N_LEFT) ? BCS_ROOT_OUR_SIDE
                                                   : root - a->other_first;
}

static void across_rooted(struct across *a, int32_t root)
{
    int32_t named = root_of(a, root);
    bool is_other = named >= 0, is_root = named == BCS_ROOT_SELF;
    int64_t word = is_root ? root : -1, mine = element(a->rank, 0), got = -1;
    int64_t gathered[N_LEFT] = {-1, -1, -1}, given[N_LEFT];
    const struct bcs_blocks in = {.data = gathered, .block_bytes = 8};
    const struct bcs_blocks out = {.data = given, .block_bytes = 8};

    ck_assert_int_eq(
        bcs_across_bcast(a->context, &a->sides, &word, sizeof(word), named, NULL), 0);
    ck_assert_int_eq(word, is_other || is_root ? root : -1);
    ck_assert_int_eq(bcs_across_gather(a->context, &a->sides,
                                       &(struct bcs_part){&mine, sizeof(mine)}, &in,
                                       named, NULL),
                     0);
    for (int32_t i = 0; i < N_LEFT; i++) {
        bool is_there = is_root && i < a->n_others;

        ck_assert_int_eq(gathered[i], is_there ? element(a->other_first + i, 0) : -1);
        given[i] = element(root, (size_t)i);
    }
    ck_assert_int_eq(bcs_across_scatter(a->context, &a->sides,
                                        &(struct bcs_part){&got, sizeof(got)}, &out,
                                        named, NULL),
                     0);
    ck_assert_int_eq(got, is_other ? element(root, (size_t)a->sides.mine.rank) : -1);
}

/** Bytes that a member sends, where lengths differ. */
static size_t bytes_of(int32_t rank)
{
    return 8 * (size_t)(rank % 3 + 1);
}

static void across_all(struct across *a)
{
    int64_t mine[3], got[3 * N_LEFT], out[N_LEFT], in[N_LEFT] = {0};
    size_t n_bytes[N_LEFT], at = 0;
    struct bcs_blocks blocks = {.data = got, .n_bytes = n_bytes};

    fill(mine, a->rank, 3);
    for (int32_t i = 0; i < a->n_others; i++) {
        n_bytes[i] = bytes_of(a->other_first + i);
        out[i] = element(a->rank, (size_t)i);
    }
    ck_assert_int_eq(bcs_across_allgather(a->context, &a->sides,
                                          &(struct bcs_part){mine, bytes_of(a->rank)},
                                          &blocks, NULL),
                     0);
    for (int32_t i = 0; i < a->n_others; i++) {
        for (size_t k = 0; k < n_bytes[i] / 8; k++) {
            ck_assert_int_eq(got[at++], element(a->other_first + i, k));
        }
    }
    ck_assert_int_eq(
        bcs_across_alltoall(a->context, &a->sides,
                            &(struct bcs_blocks){.data = out, .block_bytes = 8},
                            &(struct bcs_blocks){.data = in, .block_bytes = 8}, NULL),
        0);
    for (int32_t i = 0; i < a->n_others; i++) {
        ck_assert_int_eq(in[i],
                         element(a->other_first + i, (size_t)a->sides.mine.rank));
    }
}

static void across_reduce(struct across *a, int32_t root)
{
    int32_t named = root_of(a, root), end = a->other_first + a->n_others;
    int64_t in[3], out[3] = {0};
    const struct bcs_reduction reduction = sum(in, out, 3);

    fill(in, a->rank, 3);
    ck_assert_int_eq(bcs_across_reduce(a->context, &a->sides, &reduction, named, NULL),
                     0);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(out[i],
                         named == BCS_ROOT_SELF ? sum_of(a->other_first, end, i) : 0);
    }
    ck_assert_int_eq(
        bcs_across_reduce(a->context, &a->sides, &reduction, BCS_ROOT_ALL, NULL), 0);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(out[i], sum_of(a->other_first, end, i));
    }
}

/** Vectors of 6 elements: parts of 1, 2 and 3 on one side, and of 4 and 2 on the
 *  other. */
static void across_reduce_scatter(struct across *a)
{
    static const size_t left[] = {1, 2, 3}, right[] = {4, 2};
    const size_t *counts = a->rank < N_LEFT ? left : right;
    int32_t me = a->sides.mine.rank;
    int64_t in[6], out[6] = {0};
    const struct bcs_reduction reduction = sum(in, out, 0);
    size_t first = 0;

    fill(in, a->rank, 6);
    for (int32_t i = 0; i < me; i++) {
        first += counts[i];
    }
    ck_assert_int_eq(
        bcs_across_reduce_scatter(a->context, &a->sides, &reduction, counts, NULL), 0);
    for (size_t i = 0; i < 6; i++) {
        ck_assert_int_eq(out[i], i < counts[me]
                                     ? sum_of(a->other_first,
                                              a->other_first + a->n_others, first + i)
                                     : 0);
    }
}

static void across(struct ranks_rank *rank)
{
    struct across a;

    across_open(&a, rank);
    for (int32_t root = 0; root < N_RANKS; root++) {
        across_rooted(&a, root);
        across_reduce(&a, root);
    }
    across_all(&a);
    across_reduce_scatter(&a);
    ck_assert_int_eq(bcs_across_bcast(a.context, &a.sides, NULL, 0, a.n_others, NULL),
                     -EINVAL);
    ck_assert_int_eq(bcs_finalize(a.context), 0);
}

START_TEST(one_side_gets_what_the_other_one_gives)
{
    run(_i, across);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("collective_across");

    /* Processes of a node: all, one, two. */
    tcase_add_loop_test(tests, one_side_gets_what_the_other_one_gives, 0, 3);
    return run_tcase("collective_across", tests);
}
