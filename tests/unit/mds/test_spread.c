/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Distributions that are compared, and what counts as noise.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "mds/histogram.h"
#include "mds/tool/analysis/noise.h"
#include "mds/tool/analysis/spread.h"
#include "tests/unit/run_suite.h"

#define CLOSE 1e-9

static struct spread spread_of(uint32_t bits, size_t n, const uint64_t *values)
{
    struct spread spread = {.bits = bits};

    for (size_t i = 0; i < n; i++) {
        ck_assert_int_eq(spread_add(&spread, values[i], 1), 0);
    }
    return spread;
}

START_TEST(a_quantile_lies_where_so_many_are_below)
{
    struct spread few = spread_of(4, 4, (uint64_t[]){3, 5, 5, 9});
    struct spread none = {.bits = 4};

    ck_assert_double_eq(spread_quantile(&few, 0.25), 3);
    ck_assert_double_eq(spread_quantile(&few, 0.5), 5);
    ck_assert_double_eq(spread_quantile(&few, 0.75), 5);
    ck_assert_double_eq(spread_quantile(&few, 1), 9);
    ck_assert_double_eq(spread_quantile(&none, 0.5), 0);
    spread_fini(&few);
}
END_TEST

START_TEST(a_quantile_in_a_wide_bucket_is_between_its_bounds)
{
    struct spread spread = spread_of(2, 2, (uint64_t[]){1024, 1024});

    ck_assert_double_eq(spread_quantile(&spread, 0), 1024);
    ck_assert_double_eq_tol(spread_quantile(&spread, 0.5), 1024 + 255 / 2.0, CLOSE);
    ck_assert_double_eq(spread_quantile(&spread, 1), 1279);
    spread_fini(&spread);
}
END_TEST

START_TEST(a_shift_is_that_of_the_rank_test_with_ties)
{
    struct spread a = spread_of(4, 3, (uint64_t[]){1, 2, 3});
    struct spread b = spread_of(4, 3, (uint64_t[]){2, 3, 4});
    struct spread_shift shift = spread_compare(&a, &b);
    struct spread_shift back = spread_compare(&b, &a);

    ck_assert_double_eq_tol(shift.delta, 5.0 / 9, CLOSE);
    ck_assert_double_eq_tol(shift.z, 2.5 / 2.224859546128699, CLOSE);
    ck_assert_double_eq_tol(back.delta, -shift.delta, CLOSE);
    ck_assert_double_eq_tol(back.z, -shift.z, CLOSE);
    spread_fini(&a);
    spread_fini(&b);
}
END_TEST

START_TEST(equal_or_empty_ones_have_no_shift)
{
    struct spread a = spread_of(4, 2, (uint64_t[]){7, 7}), none = {.bits = 4};
    struct spread_shift same = spread_compare(&a, &a), with_none;

    with_none = spread_compare(&a, &none);
    ck_assert_double_eq(same.delta, 0);
    ck_assert_double_eq(same.z, 0);
    ck_assert_double_eq(with_none.delta, 0);
    spread_fini(&a);
}
END_TEST

START_TEST(merged_ones_have_the_values_of_both)
{
    struct spread a = spread_of(4, 2, (uint64_t[]){1, 1 << 20});
    struct spread b = spread_of(4, 2, (uint64_t[]){1, UINT64_MAX}), none = {.bits = 4};

    ck_assert_int_eq(spread_merge(&a, &b), 0);
    ck_assert_int_eq(spread_merge(&a, &none), 0);
    ck_assert_uint_eq(a.n, 4);
    ck_assert_uint_eq(a.counts[1], 2);
    ck_assert_uint_eq(a.counts[mds_histogram_n(4) - 1], 1);
    spread_fini(&a);
    spread_fini(&b);
}
END_TEST

static struct noise_sample sample_of(uint32_t n, const double *numbers)
{
    struct noise_sample sample = {0};

    for (uint32_t i = 0; i < n; i++) {
        noise_add(&sample, numbers[i]);
    }
    return sample;
}

static enum noise_verdict judge(uint32_t n_a, const double *a, uint32_t n_b,
                                const double *b)
{
    struct noise_sample of_a = sample_of(n_a, a), of_b = sample_of(n_b, b);

    return noise_judge(&of_a, &of_b);
}

START_TEST(several_runs_are_judged_by_their_spread)
{
    const double low[] = {1, 2, 3};
    struct noise_sample sample = sample_of(3, low);

    ck_assert_double_eq_tol(sample.mean, 2, CLOSE);
    ck_assert_double_eq_tol(sample.squares, 2, CLOSE);
    /* t is the distance of the means by 0.8165, and may be 4.604 */
    ck_assert_int_eq(judge(3, low, 3, (double[]){4.7, 5.7, 6.7}), NOISE_WITHIN);
    ck_assert_int_eq(judge(3, low, 3, (double[]){4.8, 5.8, 6.8}), NOISE_BEYOND);
    ck_assert_int_eq(judge(3, (double[]){4.8, 5.8, 6.8}, 3, low), NOISE_BEYOND);
}
END_TEST

START_TEST(one_run_is_judged_by_the_spread_of_the_other_side)
{
    const double several[] = {1, 2, 3};

    /* the distance of the means by 1.1547, and t may be 9.925 */
    ck_assert_int_eq(judge(1, (double[]){13.4}, 3, several), NOISE_WITHIN);
    ck_assert_int_eq(judge(1, (double[]){13.5}, 3, several), NOISE_BEYOND);
    ck_assert_int_eq(judge(1, several, 1, several + 2), NOISE_UNKNOWN);
    ck_assert_int_eq(judge(0, several, 3, several), NOISE_UNKNOWN);
}
END_TEST

START_TEST(what_never_varies_has_no_noise)
{
    const double same[] = {5, 5, 5};

    ck_assert_int_eq(judge(3, same, 3, same), NOISE_WITHIN);
    ck_assert_int_eq(judge(3, same, 2, (double[]){5.001, 5.001}), NOISE_BEYOND);
}
END_TEST

START_TEST(a_distribution_has_moved_if_it_is_much_and_sure)
{
    ck_assert_int_eq(noise_judge_shift(&(struct spread_shift){0.147, 3}, 9, 9),
                     NOISE_BEYOND);
    ck_assert_int_eq(noise_judge_shift(&(struct spread_shift){-0.147, -3}, 9, 9),
                     NOISE_BEYOND);
    ck_assert_int_eq(noise_judge_shift(&(struct spread_shift){0.146, 30}, 9, 9),
                     NOISE_WITHIN);
    ck_assert_int_eq(noise_judge_shift(&(struct spread_shift){0.9, 2.9}, 9, 9),
                     NOISE_WITHIN);
    ck_assert_int_eq(noise_judge_shift(&(struct spread_shift){0.9, 9}, 0, 9),
                     NOISE_UNKNOWN);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("spread");

    tcase_add_test(tcase, a_quantile_lies_where_so_many_are_below);
    tcase_add_test(tcase, a_quantile_in_a_wide_bucket_is_between_its_bounds);
    tcase_add_test(tcase, a_shift_is_that_of_the_rank_test_with_ties);
    tcase_add_test(tcase, equal_or_empty_ones_have_no_shift);
    tcase_add_test(tcase, merged_ones_have_the_values_of_both);
    tcase_add_test(tcase, several_runs_are_judged_by_their_spread);
    tcase_add_test(tcase, one_run_is_judged_by_the_spread_of_the_other_side);
    tcase_add_test(tcase, what_never_varies_has_no_noise);
    tcase_add_test(tcase, a_distribution_has_moved_if_it_is_much_and_sure);
    return run_tcase("spread", tcase);
}
