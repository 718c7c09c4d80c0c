/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What collectives that do not block have waited for: the stamps that their messages
 * hand on, by ranks that are one thread, so that each call begins when the test says.
 */
#include "libbcs/api/api_job.h"
#include "libbcs/api/collective/plan.h"
#include "libbcs/api/context/context.h"
#include "libbcs/api/context/request_state.h"
#include "libbcs/api/message/completion.h"
#include "tests/unit/ranks.h"
#include "tests/unit/run_suite.h"

enum { N_RANKS = 3, UNIT = 1 << BCS_STAMP_UNIT_SHIFT };

static struct ranks_job job;
static struct ranks_rank ranks[N_RANKS];
static struct bcs_request requests[N_RANKS];

static void join(struct ranks_rank *rank)
{
    struct bcs_context *context;

    ck_assert_int_eq(bcs_job_join(&rank->entry, ranks_map(rank), &context), 0);
    rank->own = context;
}

static void leave(struct ranks_rank *rank)
{
    ck_assert_int_eq(bcs_finalize(rank->own), 0);
}

static void setup(void)
{
    ranks_init(&job, ranks, N_RANKS, 0);
    for (int i = 0; i < N_RANKS; i++) {
        ranks[i].entry.settings.nic.record.has_stamps = 1;
    }
    ranks_run(ranks, N_RANKS, join);
}

static void teardown(void)
{
    ranks_run(ranks, N_RANKS, leave);
    ranks_fini(&job);
}

/** A call of a rank begins. */
static struct bcs_context *call(int rank, uint64_t units)
{
    struct bcs_context *context = ranks[rank].own;

    bcs_stamps_begin(&context->stamps, units * UNIT);
    return context;
}

/** A rank begins a barrier in a call of its own. */
static void come(int rank, uint64_t units)
{
    struct bcs_context *context = call(rank, units);

    ck_assert_int_eq(bcs_barrier(context, bcs_world(context), &requests[rank]), 0);
    bcs_stamps_end(&context->stamps);
}

/** It goes on with it, in another call. @return whether it is over */
static bool look(int rank, uint64_t units)
{
    struct bcs_context *context = call(rank, units);
    bool is_over = bcs_test(context, &requests[rank], false) == 0;

    ck_assert_uint_eq(context->stamps.latest, BCS_STAMP_NONE);
    ck_assert(!context->stamps.is_blind);
    if (is_over) {
        bcs_note_collective(context, &requests[rank]);
    }
    return is_over;
}

static void expect(int rank, uint64_t units, uint32_t late)
{
    const struct bcs_context *context = ranks[rank].own;

    ck_assert_uint_eq(context->stamps.latest, bcs_stamp_make(units * UNIT, late));
    ck_assert_int_eq(context->stamps.cause, BCS_STAMP_CAUSE_COLLECTIVE);
    ck_assert(!context->stamps.is_blind);
}

/* Rank 0, which all tell that they have come, and which then tells all, has heard of
 * the last one first. */
START_TEST(a_rank_hands_on_the_latest_of_all_its_calls)
{
    come(0, 100);
    come(1, 900);
    ck_assert(!look(0, 110));
    come(2, 500);
    ck_assert(look(0, 120));
    expect(0, 900, 1);
    ck_assert(look(2, 510));
    expect(2, 900, 1);
    ck_assert(look(1, 910));
    expect(1, 900, 1);
}
END_TEST

/* All have come, but rank 0 comes late with what it hands on. */
START_TEST(a_rank_that_hands_on_late_is_late)
{
    come(0, 100);
    come(1, 101);
    come(2, 102);
    ck_assert(!look(1, 103));
    ck_assert(look(0, 800));
    expect(0, 102, 2);
    ck_assert(look(1, 110));
    expect(1, 800, 0);
    ck_assert(look(2, 111));
    expect(2, 800, 0);
}
END_TEST

/* Of what has a part without a stamp nothing is known, whatever comes afterwards. */
START_TEST(a_collective_stays_blind)
{
    struct bcs_context *context;

    come(1, 101);
    come(0, 100);
    context = ranks[0].own;
    context->plans.first->stamp = BCS_STAMP_NONE;
    ck_assert(!look(0, 110));
    come(2, 900);
    context = call(0, 120);
    ck_assert_int_eq(bcs_test(context, &requests[0], false), 0);
    ck_assert(!context->stamps.is_blind);
    bcs_note_collective(context, &requests[0]);
    ck_assert(context->stamps.is_blind);
    ck_assert(look(1, 130));
    expect(1, 900, 2);
    ck_assert(look(2, 910));
}
END_TEST

/* Who need not wait for anybody has waited for itself. */
START_TEST(a_root_waits_for_nobody)
{
    struct bcs_context *context = call(0, 100);
    uint64_t value = 0;

    ck_assert_int_eq(
        bcs_bcast(context, bcs_world(context), &value, sizeof(value), 0, &requests[0]),
        0);
    ck_assert(look(0, 110));
    expect(0, 100, 0);
    for (int i = 1; i < N_RANKS; i++) {
        context = call(i, 200);
        ck_assert_int_eq(bcs_bcast(context, bcs_world(context), &value, sizeof(value),
                                   0, &requests[i]),
                         0);
        bcs_stamps_end(&context->stamps);
        ck_assert(look(i, 210));
        expect(i, 200, (uint32_t)i); /* it has come after the root */
    }
}
END_TEST

static struct bcs_request bcasts[N_RANKS];
static uint64_t values[N_RANKS];

/** A rank begins a broadcast of rank 0 behind a barrier that is under way: one at a
 *  time is. */
static void begin_behind(int rank, uint64_t units)
{
    struct bcs_context *context = call(rank, units);

    context->config.limits.plans = 1;
    ck_assert_int_eq(bcs_bcast(context, bcs_world(context), &values[rank],
                               sizeof(values[rank]), 0, &bcasts[rank]),
                     0);
    bcs_stamps_end(&context->stamps);
}

/** All have begun both: a call of a rank ends the broadcast. */
static void end_behind(int rank, uint64_t units)
{
    struct bcs_context *context = call(rank, units);

    while (bcs_test(context, &bcasts[rank], false) != 0) {
    }
    ck_assert_uint_eq(values[rank], 7);
    bcs_note_collective(context, &bcasts[rank]);
}

/* The root is not late, but does not begin before rank 2 has come. */
START_TEST(a_collective_waits_for_those_before_it)
{
    values[0] = 7;
    for (int i = 0; i < N_RANKS; i++) {
        come(i, i == 2 ? 900 : 100);
        begin_behind(i, i == 2 ? 901 : 101);
    }
    for (int i = 0; i < N_RANKS; i++) {
        end_behind(i, 110);
        expect(i, i == 2 ? 901 : 900, 2);
    }
}
END_TEST

START_TEST(a_collective_behind_a_blind_one_is_blind)
{
    values[0] = 7;
    for (int i = 0; i < N_RANKS; i++) {
        come(i, 100);
        begin_behind(i, 101);
    }
    ((struct bcs_context *)ranks[0].own)->plans.first->stamp = BCS_STAMP_NONE;
    end_behind(0, 110);
    ck_assert(((struct bcs_context *)ranks[0].own)->stamps.is_blind);
    end_behind(1, 110);
    end_behind(2, 110);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("plan_stamps");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_rank_hands_on_the_latest_of_all_its_calls);
    tcase_add_test(tests, a_rank_that_hands_on_late_is_late);
    tcase_add_test(tests, a_collective_stays_blind);
    tcase_add_test(tests, a_root_waits_for_nobody);
    tcase_add_test(tests, a_collective_waits_for_those_before_it);
    tcase_add_test(tests, a_collective_behind_a_blind_one_is_blind);
    return run_tcase("plan_stamps", tests);
}
