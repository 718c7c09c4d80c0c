/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The median of the measuring programs.
 */
#include "apps/bench/median.h"

#include <check.h>

#include "tests/unit/run_suite.h"

START_TEST(of_an_odd_number_it_is_the_middle_one)
{
    double values[] = {5, 1, 100}, one[] = {7};

    ck_assert_double_eq(median_of(values, 3), 5);
    ck_assert_double_eq(median_of(one, 1), 7);
}
END_TEST

START_TEST(of_an_even_number_it_is_between_the_two_in_the_middle)
{
    double values[] = {8, 1, 100, 2};

    ck_assert_double_eq(median_of(values, 4), 5);
    ck_assert_double_eq(values[0], 1);
    ck_assert_double_eq(values[3], 100);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("median");

    tcase_add_test(tcase, of_an_odd_number_it_is_the_middle_one);
    tcase_add_test(tcase, of_an_even_number_it_is_between_the_two_in_the_middle);
    return run_tcase("median", tcase);
}
