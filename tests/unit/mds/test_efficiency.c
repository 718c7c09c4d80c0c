/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How efficient a run was, by its definition, of runs that are written down here.
 */
#include <check.h>

#include "mds/tool/analysis/efficiency.h"
#include "tests/unit/run_suite.h"

enum { N = 2 };

static struct mmds_summary summaries[N];
static struct run run;

/* A rank: outside of MPI, in calls that do not block, and in blocking ones. */
static void rank_has(uint32_t i, uint64_t outside, uint64_t instant, uint64_t blocked)
{
    summaries[i] = (struct mmds_summary){.run_ns = outside + instant + blocked,
                                         .instant_ns = instant,
                                         .computation.total_ns = outside + instant,
                                         .communication.total_ns = blocked};
}

static void set_up(void)
{
    run = (struct run){.n_files = N, .summaries = summaries};
    rank_has(0, 60, 10, 30);
    rank_has(1, 40, 0, 50);
}

START_TEST(parts_are_of_the_longest_run)
{
    struct efficiency efficiency = efficiency_of(&run);

    ck_assert_double_eq(efficiency.run_ns, 100);
    ck_assert_double_eq(efficiency.most_ns, 60);
    ck_assert_double_eq(efficiency.outside_ns, 50);
    ck_assert_double_eq(efficiency.blocking_ns, 40);
    ck_assert_double_eq(efficiency.other_ns, 5);
    ck_assert_double_eq(efficiency.parallel, 0.5);
    ck_assert_double_eq(efficiency.balance, 50.0 / 60);
    ck_assert_double_eq(efficiency.communication, 0.6);
}
END_TEST

START_TEST(ranks_that_wait_for_others_take_turns)
{
    const uint64_t waited[N] = {0, 40};
    struct efficiency efficiency = efficiency_of(&run);

    efficiency_split(&run, waited, &efficiency);
    ck_assert_double_eq(efficiency.serialisation, 60.0 / 80); /* 40 and 40 */
    ck_assert_double_eq(efficiency.transfer, 0.8);
}
END_TEST

START_TEST(a_rank_has_not_waited_longer_than_it_was_in_calls)
{
    const uint64_t waited[N] = {0, 1000};
    struct efficiency efficiency = efficiency_of(&run);

    efficiency_split(&run, waited, &efficiency);
    ck_assert_double_eq(efficiency.serialisation, 60.0 / 90);
    ck_assert_double_eq(efficiency.transfer, 0.9);
}
END_TEST

START_TEST(who_waits_for_nobody_waits_for_messages)
{
    const uint64_t waited[N] = {0, 0};
    struct efficiency efficiency = efficiency_of(&run);

    efficiency_split(&run, waited, &efficiency);
    ck_assert_double_eq(efficiency.serialisation, 1);
    ck_assert_double_eq(efficiency.transfer, 0.6);
}
END_TEST

START_TEST(nothing_is_efficient_in_no_time)
{
    struct efficiency efficiency;

    rank_has(0, 0, 0, 0);
    rank_has(1, 0, 0, 0);
    efficiency = efficiency_of(&run);
    ck_assert_double_eq(efficiency.parallel, 0);
    ck_assert_double_eq(efficiency.balance, 0);
    ck_assert_double_eq(efficiency.communication, 0);
}
END_TEST

START_TEST(calls_are_never_longer_than_what_they_are_part_of)
{
    const struct mmds_summary summary = {.instant_ns = 11, .computation.total_ns = 10};

    ck_assert_uint_eq(efficiency_outside_ns(&summary), 0);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("efficiency");

    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_test(tcase, parts_are_of_the_longest_run);
    tcase_add_test(tcase, ranks_that_wait_for_others_take_turns);
    tcase_add_test(tcase, a_rank_has_not_waited_longer_than_it_was_in_calls);
    tcase_add_test(tcase, who_waits_for_nobody_waits_for_messages);
    tcase_add_test(tcase, nothing_is_efficient_in_no_time);
    tcase_add_test(tcase, calls_are_never_longer_than_what_they_are_part_of);
    return run_tcase("efficiency", tcase);
}
