/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which waits are at the root of others.
 */
#include <check.h>

#include "mds/tool/analysis/delay.h"
#include "tests/unit/run_suite.h"

enum { N_RANKS = 4 };

/* What the i-th of them, as it was put in, is to blame for. */
static uint64_t blamed(const struct delay *delays, size_t n, size_t id)
{
    for (size_t i = 0; i < n; i++) {
        if (delays[i].id == id) {
            return delays[i].root_ns;
        }
    }
    ck_abort_msg("there is no such delay");
    return 0;
}

START_TEST(who_does_not_wait_is_to_blame)
{
    struct delay delays[] = {{.waiting = 0, .late = 1, .begin_ns = 100, .end_ns = 300}};

    ck_assert_int_eq(delays_find_roots(delays, 1, N_RANKS), 0);
    ck_assert_uint_eq(delays[0].root_ns, 200);
}
END_TEST

START_TEST(who_waits_meanwhile_hands_the_blame_on)
{
    struct delay delays[] = {
        {.waiting = 1, .late = 0, .begin_ns = 0, .end_ns = 100, .id = 0},
        {.waiting = 2, .late = 1, .begin_ns = 50, .end_ns = 180, .id = 1},
        {.waiting = 3, .late = 2, .begin_ns = 20, .end_ns = 200, .id = 2},
    };

    ck_assert_int_eq(delays_find_roots(delays, 3, N_RANKS), 0);
    /* 100 itself, 50 to 100 of rank 2, and the same of rank 3, which waits for that
     * one. */
    ck_assert_uint_eq(blamed(delays, 3, 0), 100 + 50 + 50);
    /* 100 to 180, twice. */
    ck_assert_uint_eq(blamed(delays, 3, 1), 80 + 80);
    /* 20 to 50, and 180 to 200. */
    ck_assert_uint_eq(blamed(delays, 3, 2), 30 + 20);
}
END_TEST

START_TEST(several_waits_of_one_rank_are_told_apart)
{
    struct delay delays[] = {
        {.waiting = 0, .late = 1, .begin_ns = 0, .end_ns = 1000, .id = 0},
        {.waiting = 1, .late = 3, .begin_ns = 500, .end_ns = 600, .id = 1},
        {.waiting = 1, .late = 2, .begin_ns = 100, .end_ns = 200, .id = 2},
        {.waiting = 1,
         .late = 2,
         .begin_ns = 1000,
         .end_ns = 1100,
         .id = 3}, /* later */
    };

    ck_assert_int_eq(delays_find_roots(delays, 4, N_RANKS), 0);
    ck_assert_uint_eq(blamed(delays, 4, 0), 800);
    ck_assert_uint_eq(blamed(delays, 4, 1), 200);
    ck_assert_uint_eq(blamed(delays, 4, 2), 200);
    ck_assert_uint_eq(blamed(delays, 4, 3), 100);
}
END_TEST

START_TEST(ranks_that_wait_for_each_other_end)
{
    struct delay delays[] = {
        {.waiting = 0, .late = 1, .begin_ns = 0, .end_ns = 10},
        {.waiting = 1, .late = 0, .begin_ns = 0, .end_ns = 10},
        {.waiting = 2, .late = 2, .begin_ns = 0, .end_ns = 10}, /* for itself */
    };
    uint64_t sum = 0;

    ck_assert_int_eq(delays_find_roots(delays, 3, N_RANKS), 0);
    for (size_t i = 0; i < 3; i++) {
        sum += delays[i].root_ns;
    }
    ck_assert_uint_eq(sum, 30);
}
END_TEST

START_TEST(waits_of_threads_at_the_same_time_count_once)
{
    struct delay delays[] = {
        {.waiting = 0, .late = 1, .begin_ns = 0, .end_ns = 100, .id = 0},
        {.waiting = 0, .late = 2, .begin_ns = 50, .end_ns = 150, .id = 1},
        {.waiting = 0, .late = 3, .begin_ns = 60, .end_ns = 70, .id = 2},
    };

    ck_assert_int_eq(delays_find_roots(delays, 3, N_RANKS), 0);
    ck_assert_uint_eq(blamed(delays, 3, 0), 100);
    ck_assert_uint_eq(blamed(delays, 3, 1), 50);
    ck_assert_uint_eq(blamed(delays, 3, 2), 0);
}
END_TEST

START_TEST(without_waits_there_is_nothing)
{
    ck_assert_int_eq(delays_find_roots(NULL, 0, 0), 0);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("delay");

    tcase_add_test(tcase, who_does_not_wait_is_to_blame);
    tcase_add_test(tcase, who_waits_meanwhile_hands_the_blame_on);
    tcase_add_test(tcase, several_waits_of_one_rank_are_told_apart);
    tcase_add_test(tcase, ranks_that_wait_for_each_other_end);
    tcase_add_test(tcase, waits_of_threads_at_the_same_time_count_once);
    tcase_add_test(tcase, without_waits_there_is_nothing);
    return run_tcase("delay", tcase);
}
