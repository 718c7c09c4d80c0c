/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The random matchings of overhead_measure: each rank has one partner, all ranks agree
 * on the pairs, and all matchings are equally likely.
 */
#include <check.h>

#include "apps/overhead/measure/matching.h"
#include "tests/unit/run_suite.h"

enum { N_RANKS_MOST = 64, N_MATCHINGS = 3000 };

START_TEST(partners_are_each_other_s)
{
    int order[N_RANKS_MOST];

    for (int n_ranks = 2; n_ranks <= N_RANKS_MOST; n_ranks += 2) {
        for (int rank = 0; rank < n_ranks; rank++) {
            int partner = matching_partner(1, _i, n_ranks, rank, order);

            ck_assert_int_ge(partner, 0);
            ck_assert_int_lt(partner, n_ranks);
            ck_assert_int_ne(partner, rank);
            ck_assert_int_eq(matching_partner(1, _i, n_ranks, partner, order), rank);
        }
    }
}
END_TEST

START_TEST(numbers_and_seeds_give_other_matchings)
{
    int order[N_RANKS_MOST], n_same = 0;

    for (int rank = 0; rank < N_RANKS_MOST; rank++) {
        int partner = matching_partner(1, 0, N_RANKS_MOST, rank, order);

        n_same += matching_partner(1, 1, N_RANKS_MOST, rank, order) == partner;
        n_same += matching_partner(2, 0, N_RANKS_MOST, rank, order) == partner;
    }
    ck_assert_int_lt(n_same, N_RANKS_MOST / 4);
}
END_TEST

START_TEST(all_matchings_are_equally_likely)
{
    int order[4], n_partner[4] = {0};

    for (long number = 0; number < N_MATCHINGS; number++) {
        n_partner[matching_partner(1, number, 4, 0, order)]++;
    }
    ck_assert_int_eq(n_partner[0], 0);
    for (int partner = 1; partner < 4; partner++) {
        /* 1000 of each, with a deviation of 26 */
        ck_assert_int_gt(n_partner[partner], 870);
        ck_assert_int_lt(n_partner[partner], 1130);
    }
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("overhead_matching");

    tcase_add_loop_test(tcase, partners_are_each_other_s, 0, 8);
    tcase_add_test(tcase, numbers_and_seeds_give_other_matchings);
    tcase_add_test(tcase, all_matchings_are_equally_likely);
    return run_tcase("overhead_matching", tcase);
}
