/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums without rounding errors, on one process: no term is lost beside larger ones, and
 * the result is rounded once. MPI is not called.
 */
#include <check.h>
#include <float.h>
#include <math.h>

#include "apps/common/exact_sum.h"
#include "apps/sage/wide_sum.h"
#include "tests/unit/run_suite.h"

static double sum_of(const double *terms, int n)
{
    struct exact_sum sum;

    exact_sum_init(&sum);
    for (int i = 0; i < n; i++) {
        exact_sum_add(&sum, terms[i]);
    }
    return exact_sum_value(&sum);
}

#define SUM(...)                                                                       \
    sum_of((const double[]){__VA_ARGS__},                                              \
           (int)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double)))

START_TEST(one_term_is_its_sum)
{
    static const double terms[] = {0,       1,       -1,          0.1,          -3e-7,
                                   DBL_MAX, DBL_MIN, 1e-320,      4.94066e-324, -1e308,
                                   0x1p32,  0x1p-31, 12345.678901};

    for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++) {
        ck_assert_double_eq(sum_of(&terms[i], 1), terms[i]);
    }
}
END_TEST

START_TEST(nothing_is_lost_beside_what_is_larger)
{
    ck_assert_double_eq(SUM(1e300, 1, -1e300), 1);
    ck_assert_double_eq(SUM(-1e300, 3e-300, 1e300), 3e-300);
    ck_assert_double_eq(SUM(DBL_MAX, DBL_MAX, -DBL_MAX), DBL_MAX);
    ck_assert_double_eq(SUM(1, 0x1p-60, -1, -0x1p-60), 0);
    ck_assert_double_eq(SUM(0x1p53, 1, 1), 0x1p53 + 2);
    ck_assert_double_eq(SUM(-0x1p53, -1, -1), -0x1p53 - 2);
}
END_TEST

START_TEST(the_result_is_rounded_to_the_nearest)
{
    ck_assert_double_eq(SUM(0x1p53, 1), 0x1p53);        /* a tie, to even */
    ck_assert_double_eq(SUM(0x1p53, 2, 1), 0x1p53 + 4); /* a tie, to even */
    ck_assert_double_eq(SUM(0x1p53, 1, 0x1p-900), 0x1p53 + 2);
    ck_assert_double_eq(SUM(0x1p53, 1, -0x1p-900), 0x1p53);
    ck_assert_double_eq(SUM(1, 0x1p-53, 0x1p-80), 1 + 0x1p-52);
    ck_assert_double_eq(SUM(-1, -0x1p-53, -0x1p-80), -1 - 0x1p-52);
}
END_TEST

START_TEST(digits_pass_their_carries_on)
{
    struct exact_sum sum;

    exact_sum_init(&sum);
    for (int i = 0; i < 1000; i++) {
        exact_sum_add(&sum, 0x1.fffffffffffffp20);
    }
    ck_assert_double_eq(exact_sum_value(&sum), 1000 * 0x1.fffffffffffffp20);
    ck_assert_int_eq(sum.n_pending, 0);
    for (int i = 0; i < 2000; i++) {
        exact_sum_add(&sum, -0x1.fffffffffffffp20);
    }
    ck_assert_double_eq(exact_sum_value(&sum), -1000 * 0x1.fffffffffffffp20);
}
END_TEST

START_TEST(what_is_not_finite_has_no_sum)
{
    ck_assert_double_nan(SUM(1, INFINITY));
    ck_assert_double_nan(SUM(INFINITY, -INFINITY));
    ck_assert_double_nan(SUM(NAN));
}
END_TEST

START_TEST(whole_numbers_are_equal_if_all_bits_are)
{
    struct wide_sum one = {0}, other = {0};

    wide_sum_add(&one, -1);
    wide_sum_add(&other, -2);
    ck_assert(!wide_sum_is_equal(&one, &other));
    ck_assert_double_eq(wide_sum_value(&one), -1);
    wide_sum_add(&other, 1);
    ck_assert(wide_sum_is_equal(&one, &other));
    wide_sum_add(&other, INT64_C(1) << 32);
    ck_assert(!wide_sum_is_equal(&one, &other));
    ck_assert_double_eq(wide_sum_value(&other), 0x1p32 - 1);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("exact_sum");

    tcase_add_test(tcase, one_term_is_its_sum);
    tcase_add_test(tcase, nothing_is_lost_beside_what_is_larger);
    tcase_add_test(tcase, the_result_is_rounded_to_the_nearest);
    tcase_add_test(tcase, digits_pass_their_carries_on);
    tcase_add_test(tcase, what_is_not_finite_has_no_sum);
    tcase_add_test(tcase, whole_numbers_are_equal_if_all_bits_are);
    return run_tcase("exact_sum", tcase);
}
