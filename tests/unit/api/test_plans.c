/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives that go on by themselves: what they need is told, whatever waits moves
 * them on, and their steps are used again. The ranks are contexts of this thread.
 */
#include "libbcs/api/collective/plan.h"

#include <check.h>

#include "libbcs/api/context/plan_tag.h"
#include "tests/engine/job.h"
#include "tests/unit/run_suite.h"

enum { N_RANKS = 3, N_TURNS = 1000, N_MANY = BCS_STAND_PLANS + 1 };

static struct job job;
static struct rank ranks[N_RANKS];
static struct bcs_request requests[N_RANKS][N_MANY];
static struct bcs_stand_operation needs[N_MANY];

static void begin(void)
{
    const struct job_shape shape = {.n_ranks = N_RANKS, .is_threaded = true};

    job_open(&job, &shape, ranks);
}

static void end(void)
{
    job_close(&job, ranks);
}

/** A rank comes to a barrier, its number `i`. */
static void come(int rank, int i)
{
    ck_assert_int_eq(
        bcs_barrier(ranks[rank].context, &ranks[rank].world, &requests[rank][i]), 0);
}

/** All look after their collectives for some time. */
static void progress(void)
{
    for (int turn = 0; turn < N_TURNS; turn++) {
        for (int rank = 0; rank < N_RANKS; rank++) {
            bcs_progress(ranks[rank].context);
        }
    }
}

static bool is_over(int i)
{
    bool is_over = true;

    for (int rank = 0; rank < N_RANKS; rank++) {
        is_over &= bcs_is_done(&requests[rank][i]);
    }
    return is_over;
}

/** A bcs_take_need_fn, which counts. */
static void take(void *arg, const struct bcs_stand_operation *need)
{
    uint32_t *n = arg;

    needs[(*n)++] = *need;
}

static uint32_t find_needs(int rank, const struct bcs_request *request)
{
    uint32_t n = 0;

    ck_assert(bcs_plans_find_needs(ranks[rank].context, request, take, &n));
    return n;
}

START_TEST(what_a_collective_needs_is_told)
{
    ck_assert_uint_eq(find_needs(0, NULL), 0);
    come(0, 0);
    progress();
    ck_assert_uint_eq(find_needs(0, NULL), 1);
    ck_assert_int_eq(needs[0].kind, BCS_STAND_RECEIVE);
    ck_assert_int_eq(needs[0].peer, 1);
    ck_assert_int_eq(bcs_plan_tag_kind(needs[0].tag), BCS_PLAN_BARRIER);
    ck_assert_uint_ne(needs[0].cell, BCS_CELL_NONE);
    come(1, 0);
    progress();
    ck_assert_uint_eq(find_needs(0, NULL), 1);
    ck_assert_int_eq(needs[0].peer, 2); /* that of rank 1 has come */
    come(2, 0);
    progress();
    ck_assert(is_over(0));
    ck_assert_uint_eq(find_needs(0, NULL), 0);
}
END_TEST

START_TEST(each_of_several_is_told)
{
    for (int i = 0; i < N_MANY; i++) {
        come(0, i);
        ck_assert_uint_eq(find_needs(0, &requests[0][i]), 1);
        ck_assert_uint_eq(find_needs(0, NULL), (uint32_t)i + 1);
        ck_assert_int_eq(needs[i].peer, 1);
    }
    ck_assert_uint_eq(find_needs(0, &requests[1][0]), 0); /* which is not its own */
    for (int rank = 1; rank < N_RANKS; rank++) {
        for (int i = 0; i < N_MANY; i++) {
            come(rank, i);
        }
    }
    progress();
    for (int i = 0; i < N_MANY; i++) {
        ck_assert(is_over(i));
    }
}
END_TEST

/** How many slabs of steps a rank has; each begins with a pointer to the next one. */
static int n_slabs(int rank)
{
    void *slab = ranks[rank].context->plans.slabs;
    int n = 0;

    for (; slab != NULL; slab = *(void **)slab) {
        n++;
    }
    return n;
}

START_TEST(steps_are_used_again)
{
    uint8_t out[N_RANKS] = {0}, in[N_RANKS][N_RANKS];

    for (int i = 0; i < 2 * N_MANY; i++) {
        for (int rank = 0; rank < N_RANKS; rank++) {
            const struct bcs_blocks send = {.data = out, .block_bytes = 1};
            const struct bcs_blocks receive = {.data = in[rank], .block_bytes = 1};

            ck_assert_int_eq(bcs_alltoall(ranks[rank].context, &ranks[rank].world,
                                          &send, &receive, &requests[rank][0]),
                             0);
        }
        progress();
        ck_assert(is_over(0));
        ck_assert_int_eq(n_slabs(0), 1);
    }
    for (int i = 0; i < N_MANY; i++) { /* more at a time than one slab has */
        come(0, i);
    }
    ck_assert_int_gt(n_slabs(0), 1);
    for (int rank = 1; rank < N_RANKS; rank++) { /* what has begun ends */
        for (int i = 0; i < N_MANY; i++) {
            come(rank, i);
        }
    }
    progress();
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("plans");

    tcase_add_checked_fixture(tcase, begin, end);
    tcase_add_test(tcase, what_a_collective_needs_is_told);
    tcase_add_test(tcase, each_of_several_is_told);
    tcase_add_test(tcase, steps_are_used_again);
    return run_tcase("plans", tcase);
}
