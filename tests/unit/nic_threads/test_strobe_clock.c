/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The grid of timed strobes.
 */
#include "nic_threads/rules/strobe_clock.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <string.h>

enum { START = 1000000, SLICE = 1000, LONG_SLICE = 256000 };

static struct nic_strobe_counts counts;
static struct nic_strobe_clock timer;

static void setup(void)
{
    memset(&counts, 0, sizeof(counts));
    nic_strobe_clock_start(&timer, START, SLICE, &counts);
}

/** The strobe of a point is due, and sent so much later. */
static void send(uint64_t point, uint64_t late)
{
    uint64_t due = nic_strobe_clock_due_ns(&timer, timer.sent_ns);

    ck_assert_uint_eq(due, START + point * SLICE);
    nic_strobe_clock_sent(&timer, due, due + late);
}

START_TEST(strobes_stand_on_the_grid_however_late_each_is_sent)
{
    static const uint64_t late[] = {0, 7, 99, 0, 60, 3};

    for (uint64_t point = 1; point <= 6000; point++) {
        send(point, late[point % 6]);
    }
    ck_assert_uint_eq(counts.n_strobes, 6000);
    ck_assert_uint_eq(counts.n_left_out, 0);
}
END_TEST

START_TEST(the_grid_is_the_same_whenever_a_job_begins)
{
    nic_strobe_clock_start(&timer, START + (uint64_t)_i, SLICE, &counts);
    ck_assert_uint_eq(nic_strobe_clock_due_ns(&timer, timer.sent_ns),
                      START + (_i <= 500 ? SLICE : 2 * SLICE));
}
END_TEST

START_TEST(after_a_late_strobe_no_slice_is_shorter_than_half)
{
    send(1, 0);
    send(2, 501);
    send(4, 0); /* 499 to the strobe of point 3 would be too short */
    ck_assert_uint_eq(counts.n_left_out, 1);
    send(5, 500);
    send(6, 0);
    ck_assert_uint_eq(counts.n_left_out, 1);
}
END_TEST

START_TEST(a_slice_whose_work_lasts_longer_leaves_points_out)
{
    send(1, 0);
    ck_assert_uint_eq(nic_strobe_clock_due_ns(&timer, START + 3500), START + 4000);
    ck_assert_uint_eq(nic_strobe_clock_due_ns(&timer, START + 3000), START + 3000);
    nic_strobe_clock_sent(&timer, START + 4000, START + 4001);
    ck_assert_uint_eq(counts.n_left_out, 2);
    ck_assert_uint_eq(counts.n_strobes, 2);
}
END_TEST

/* The first time that is said so exactly when one would be due. */
START_TEST(strobes_that_nobody_needs_are_not_late)
{
    const uint64_t now = START + 7 * SLICE + (uint64_t)_i;

    send(1, 0);
    nic_strobe_clock_skip(&timer, now);
    ck_assert_uint_eq(nic_strobe_clock_due_ns(&timer, now), START + 8 * SLICE);
    nic_strobe_clock_sent(&timer, START + 8 * SLICE, START + 8 * SLICE);
    ck_assert_uint_eq(counts.n_idle, 6);
    ck_assert_uint_eq(counts.n_left_out, 0);
    ck_assert_uint_eq(counts.n_strobes, 2);
    send(9, 0);
}
END_TEST

/** Strobes whose timer wakes its thread so much later. @return how many were late, by
 *  more than allowed */
static int late_wake_ups(enum nic_strobe_poll poll, int n, uint64_t latency,
                         uint64_t latency_of_each_16th)
{
    uint64_t allowed =
        poll == NIC_STROBE_POLL_DEAR ? LONG_SLICE / NIC_STROBE_DELAYS_A_SLICE : 0;
    int n_late = 0;

    for (int i = 1; i <= n; i++) {
        uint64_t due = START + (uint64_t)i * LONG_SLICE;
        uint64_t end = nic_strobe_clock_timer_ns(&timer, due, poll);
        uint64_t ready = end + (i % 16 == 0 ? latency_of_each_16th : latency);

        ck_assert_uint_le(end, due);
        n_late += ready > due + allowed;
        nic_strobe_clock_ready(&timer, due, ready, poll);
    }
    return n_late;
}

START_TEST(the_timer_leads_by_what_a_wake_up_takes)
{
    const uint64_t *lead = &timer.lead_ns[NIC_STROBE_POLL_FREE];

    nic_strobe_clock_start(&timer, START, LONG_SLICE, &counts);
    late_wake_ups(NIC_STROBE_POLL_FREE, 1000, 30000, 60000);
    ck_assert_int_le(late_wake_ups(NIC_STROBE_POLL_FREE, 10000, 30000, 60000), 100);
    ck_assert_uint_ge(*lead, 60000 - LONG_SLICE / 64);
    ck_assert_uint_le(*lead, 60000 + LONG_SLICE / 64);
    late_wake_ups(NIC_STROBE_POLL_FREE, 10000, 20000, 20000);
    ck_assert_int_le(late_wake_ups(NIC_STROBE_POLL_FREE, 10000, 20000, 20000), 100);
    ck_assert_uint_le(*lead, 20000 + LONG_SLICE / 64);
    ck_assert_uint_eq(timer.lead_ns[NIC_STROBE_POLL_DEAR], LONG_SLICE / 16);
}
END_TEST

START_TEST(where_polling_is_dear_the_timer_leads_by_less)
{
    const uint64_t allowed = LONG_SLICE / NIC_STROBE_DELAYS_A_SLICE;
    const uint64_t *lead = &timer.lead_ns[NIC_STROBE_POLL_DEAR];

    nic_strobe_clock_start(&timer, START, LONG_SLICE, &counts);
    late_wake_ups(NIC_STROBE_POLL_DEAR, 1000, 30000, 60000);
    ck_assert_int_le(late_wake_ups(NIC_STROBE_POLL_DEAR, 10000, 30000, 60000), 100);
    ck_assert_uint_ge(*lead, 60000 - allowed - LONG_SLICE / 64);
    ck_assert_uint_le(*lead, 60000 - allowed + LONG_SLICE / 64);
    late_wake_ups(NIC_STROBE_POLL_DEAR, 100000, allowed, allowed);
    ck_assert_uint_eq(*lead, 0);
    ck_assert_uint_eq(timer.lead_ns[NIC_STROBE_POLL_FREE], LONG_SLICE / 8);
}
END_TEST

START_TEST(no_lead_is_longer_than_a_third_of_a_slice)
{
    for (int poll = 0; poll < NIC_STROBE_POLLS; poll++) {
        nic_strobe_clock_start(&timer, START, LONG_SLICE, &counts);
        late_wake_ups(poll, 1000, LONG_SLICE, LONG_SLICE);
        ck_assert_uint_eq(timer.lead_ns[poll], LONG_SLICE / 3);
        late_wake_ups(poll, 100000, 0, 0);
        ck_assert_uint_eq(timer.lead_ns[poll], 0);
    }
}
END_TEST

START_TEST(lateness_is_the_end_of_a_bin)
{
    ck_assert_uint_eq(nic_strobe_counts_late_ns(&counts, SLICE, 0.5), 0);
    for (uint64_t point = 1; point <= 99; point++) {
        send(point, 0);
    }
    send(100, 400);
    ck_assert_uint_eq(nic_strobe_counts_late_ns(&counts, SLICE, 0.01), SLICE / 256);
    ck_assert_uint_eq(nic_strobe_counts_late_ns(&counts, SLICE, 0.99), SLICE / 256);
    ck_assert_uint_eq(nic_strobe_counts_late_ns(&counts, SLICE, 1),
                      (400 * 256 / SLICE + 1) * SLICE / 256);
    send(101, 50 * SLICE);
    ck_assert_uint_eq(nic_strobe_counts_late_ns(&counts, SLICE, 1),
                      NIC_STROBE_BINS * SLICE / 256);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("strobe_clock");

    tcase_add_checked_fixture(tcase, setup, NULL);
    tcase_add_test(tcase, strobes_stand_on_the_grid_however_late_each_is_sent);
    tcase_add_loop_test(tcase, the_grid_is_the_same_whenever_a_job_begins, 0, 1000);
    tcase_add_test(tcase, after_a_late_strobe_no_slice_is_shorter_than_half);
    tcase_add_test(tcase, a_slice_whose_work_lasts_longer_leaves_points_out);
    tcase_add_loop_test(tcase, strobes_that_nobody_needs_are_not_late, 0, 2);
    tcase_add_test(tcase, the_timer_leads_by_what_a_wake_up_takes);
    tcase_add_test(tcase, where_polling_is_dear_the_timer_leads_by_less);
    tcase_add_test(tcase, no_lead_is_longer_than_a_third_of_a_slice);
    tcase_add_test(tcase, lateness_is_the_end_of_a_bin);
    return run_tcase("strobe_clock", tcase);
}
