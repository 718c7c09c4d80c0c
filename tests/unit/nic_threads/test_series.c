/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Series and spans: however often a series becomes coarser, nothing that was added is
 * lost.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "nic_threads/rules/series.h"
#include "tests/unit/run_suite.h"

enum { N = 8, MOST_SLICES = 5000 };

static struct bcs_span memory[2 * N], copies[2 * N + 1];
static struct nic_spans spans = {.whole = memory};
static struct nic_series series;

static void setup(void)
{
    memset(memory, 0, sizeof(memory));
    series = (struct nic_series){.begin = 1, .end = UINT64_MAX, .n = N};
}

/** What is added of a slice: another number for each. */
static uint64_t value_of(uint64_t slice)
{
    return slice * 2654435761u % 1009 + 7;
}

static void add(uint64_t slice)
{
    struct bcs_span *span = nic_series_find(&series, &spans, slice);

    ck_assert_ptr_nonnull(span);
    ck_assert_uint_le(span->first, slice);
    ck_assert_uint_gt(span->first + (UINT64_C(1) << span->shift), slice);
    span->began = span->began == 0 ? 100 * slice : span->began;
    span->n_slices++;
    bcs_tally_add(&span->tallies[0], value_of(slice));
    if (slice % 3 == 0) { /* a metric that not all slices have */
        bcs_tally_add(&span->tallies[BCS_SPAN_TALLIES - 1], slice);
    }
}

/** What the slices from a number on, and before another one, come to. */
static struct bcs_tally sum_of(uint64_t begin, uint64_t end)
{
    struct bcs_tally sum = {0};

    for (uint64_t slice = begin; slice < end; slice++) {
        bcs_tally_add(&sum, value_of(slice));
    }
    return sum;
}

static void expect_tally(const struct bcs_tally *tally, const struct bcs_tally *wanted)
{
    ck_assert_uint_eq(tally->count, wanted->count);
    ck_assert_uint_eq(tally->total, wanted->total);
    ck_assert_uint_eq(tally->least, wanted->least);
    ck_assert_uint_eq(tally->most, wanted->most);
}

/** All slices from the series' first one to `last` were added: each span has its own,
 *  once. */
static void expect_all(uint64_t last)
{
    size_t n = nic_series_copy(&series, &spans, copies);
    uint64_t next = series.begin, n_thirds = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t end = copies[i].first + (UINT64_C(1) << series.shift);
        struct bcs_tally wanted;

        end = end > last + 1 ? last + 1 : end;
        wanted = sum_of(copies[i].first, end);
        ck_assert_uint_eq(copies[i].first, next);
        ck_assert_uint_eq(copies[i].shift, series.shift);
        ck_assert_uint_eq(copies[i].began, 100 * next);
        ck_assert_uint_eq(copies[i].n_slices, end - next);
        expect_tally(&copies[i].tallies[0], &wanted);
        n_thirds += copies[i].tallies[BCS_SPAN_TALLIES - 1].count;
        next = end;
    }
    ck_assert_uint_eq(next, last + 1);
    ck_assert_uint_eq(n_thirds, last / 3 - (series.begin - 1) / 3);
}

START_TEST(while_there_is_room_each_slice_has_a_span)
{
    for (uint64_t slice = 1; slice <= N; slice++) {
        add(slice);
        ck_assert_uint_eq(series.shift, 0);
        expect_all(slice);
    }
    add(N + 1);
    ck_assert_uint_eq(series.shift, 1);
    expect_all(N + 1);
}
END_TEST

START_TEST(no_number_of_halvings_loses_anything)
{
    for (uint64_t slice = 1; slice <= MOST_SLICES; slice++) {
        add(slice);
        expect_all(slice);
        ck_assert_uint_lt((slice - series.begin) >> series.shift, N);
    }
    ck_assert_uint_eq(series.shift, 10); /* 8 spans of 512 are too few */
}
END_TEST

START_TEST(a_slice_waits_for_few_spans_to_be_brought_over)
{
    for (uint64_t slice = 1; slice <= N + 1; slice++) {
        add(slice);
    }
    ck_assert_uint_gt(series.n_brought, 0);
    ck_assert_uint_lt(series.n_brought, N);
    /* and all are there when the half is full once more */
    for (uint64_t slice = N + 2; slice <= 2 * N; slice++) {
        ck_assert_uint_eq(series.shift, 1);
        add(slice);
    }
    ck_assert_uint_eq(series.n_brought, N);
}
END_TEST

START_TEST(a_gap_of_any_length_is_gone_over)
{
    struct bcs_tally all = {0};
    size_t n;

    for (uint64_t slice = 1; slice < UINT64_C(1) << 50; slice = slice * 7 + 3) {
        add(slice);
        bcs_tally_add(&all, value_of(slice));
    }
    n = nic_series_copy(&series, &spans, copies);
    ck_assert_uint_le(n, N);
    for (size_t i = 1; i < n; i++) {
        ck_assert_uint_gt(copies[i].first, copies[i - 1].first);
        bcs_tally_merge(&copies[0].tallies[0], &copies[i].tallies[0]);
    }
    expect_tally(&copies[0].tallies[0], &all);
}
END_TEST

START_TEST(a_slice_that_comes_late_finds_its_span)
{
    for (uint64_t slice = 1; slice <= N + 1; slice++) {
        if (slice != N) {
            add(slice);
        }
    }
    copies[0].n_slices = 0;
    add(N); /* whose place is not brought over yet */
    ck_assert_uint_eq(nic_series_copy(&series, &spans, copies), N / 2 + 1);
    ck_assert_uint_eq(copies[N / 2 - 1].n_slices, 2);
}
END_TEST

START_TEST(what_is_outside_of_the_window_is_not_recorded)
{
    series.begin = 100;
    series.end = 120;
    ck_assert_ptr_null(nic_series_find(&series, &spans, 99));
    for (uint64_t slice = 100; slice < 120; slice++) {
        add(slice);
    }
    ck_assert_ptr_null(nic_series_find(&series, &spans, 120));
    ck_assert_uint_eq(series.shift, 2);
    expect_all(119);
}
END_TEST

START_TEST(coarser_spans_of_two_series_are_put_together)
{
    struct bcs_span fine[8] = {{0}}, coarse[16] = {{0}};
    size_t n;

    for (uint64_t i = 0; i < 8; i++) {
        fine[i].first = 1 + i;
        fine[i].began = 50 + i;
        fine[i].n_slices = 1;
        bcs_tally_add(&fine[i].tallies[2], 10 + i);
        if (i % 4 == 0) {
            bcs_tally_add(&fine[i].tallies[3], 90 + i); /* the others have none */
        }
    }
    n = bcs_spans_coarsen(fine, 8, 1, 2);
    ck_assert_uint_eq(n, 2);
    ck_assert_uint_eq(fine[1].first, 5);
    ck_assert_uint_eq(fine[1].began, 54);
    ck_assert_uint_eq(fine[1].tallies[2].total, 14 + 15 + 16 + 17);
    ck_assert_uint_eq(fine[1].tallies[3].count, 1);
    ck_assert_uint_eq(fine[1].tallies[3].least, 94);

    coarse[0] = (struct bcs_span){.first = 5, .shift = 2, .began = 53, .n_slices = 9};
    coarse[1] = (struct bcs_span){.first = 9, .shift = 2, .began = 60, .n_slices = 1};
    bcs_tally_add(&coarse[0].tallies[2], 1);
    n = bcs_spans_add(coarse, 2, fine, n);
    ck_assert_uint_eq(n, 3);
    ck_assert_uint_eq(coarse[0].first, 1);
    ck_assert_uint_eq(coarse[1].first, 5);
    ck_assert_uint_eq(coarse[1].began, 53);
    ck_assert_uint_eq(coarse[1].n_slices, 13);
    ck_assert_uint_eq(coarse[1].tallies[2].least, 1);
    ck_assert_uint_eq(coarse[1].tallies[2].most, 17);
    ck_assert_uint_eq(coarse[2].first, 9);
}
END_TEST

START_TEST(metrics_have_the_names_of_the_paper)
{
    ck_assert_str_eq(bcs_metric_name(BCS_METRIC_GETTS), "GETTS");
    ck_assert_str_eq(bcs_metric_name(BCS_METRIC_USRMSM), "USRMSM");
    ck_assert_str_eq(bcs_metric_name(BCS_METRIC_LETTS), "LETTS");
    ck_assert_str_eq(bcs_metric_name(BCS_METRIC_NCOLLMSM), "NCOLLMSM");
    ck_assert_str_eq(bcs_metric_name(BCS_METRIC_BPTS), "BPTS");
    ck_assert_str_eq(bcs_metric_name(BCS_METRICS - 1), "LTRRH");
    ck_assert(bcs_metric_is_time(BCS_METRIC_GTTS));
    ck_assert(!bcs_metric_is_time(BCS_METRIC_USRTS));
    ck_assert(bcs_metric_is_time(BCS_METRIC_LTTS));
    ck_assert(!bcs_metric_is_time(BCS_METRIC_BPTS));
    ck_assert(bcs_metric_is_time(BCS_METRIC_LTR));
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("series");

    tcase_add_checked_fixture(tcase, setup, NULL);
    tcase_add_test(tcase, while_there_is_room_each_slice_has_a_span);
    tcase_add_test(tcase, no_number_of_halvings_loses_anything);
    tcase_add_test(tcase, a_slice_waits_for_few_spans_to_be_brought_over);
    tcase_add_test(tcase, a_gap_of_any_length_is_gone_over);
    tcase_add_test(tcase, a_slice_that_comes_late_finds_its_span);
    tcase_add_test(tcase, what_is_outside_of_the_window_is_not_recorded);
    tcase_add_test(tcase, coarser_spans_of_two_series_are_put_together);
    tcase_add_test(tcase, metrics_have_the_names_of_the_paper);
    return run_tcase("series", tcase);
}
