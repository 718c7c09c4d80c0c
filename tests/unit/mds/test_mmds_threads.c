/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is recorded of several threads: one beside the program's, and what each of them
 * waits for.
 */
#include <check.h>
#include <pthread.h>

#include "mds/live.h"
#include "mds/mmds.h"
#include "tests/unit/run_suite.h"

enum { WAIT, HANDLER, N_PRIMITIVES };
enum { OWN = 1, LATE = 2 };

/* Where calls are recorded. */
static struct mds_collect *collect;

static void start(void)
{
    static const char *const names[N_PRIMITIVES] = {"wait", "handler"};
    static const enum mds_timing timings[N_PRIMITIVES] = {MDS_BLOCKING, MDS_BESIDE};
    const struct mmds_plan plan = {
        .is_shared = true,
        .shape = {.n_ranks = 4, .bits = 3},
        .rank = OWN,
        .names = names,
        .timings = timings,
        .n_primitives = N_PRIMITIVES,
    };

    ck_assert_int_eq(mmds_start(&plan, &collect), 0);
}

static void stop(void)
{
    mds_live_drop(collect, NULL);
}

static void *handle(void *unused)
{
    uint64_t began = mds_begin(collect, HANDLER, MDS_BESIDE);

    mds_end(collect, HANDLER, MDS_BESIDE, began);
    return unused;
}

START_TEST(a_thread_beside_is_no_part_of_what_the_process_does)
{
    uint64_t began = mds_begin(collect, WAIT, MDS_BLOCKING);
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, handle, NULL), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert(collect->now.is_inside);
    ck_assert_uint_eq(collect->sites.table[collect->now.site].primitive, WAIT);
    mds_end(collect, WAIT, MDS_BLOCKING, began);

    ck_assert(!collect->now.is_inside);
    ck_assert_uint_eq(collect->primitives[HANDLER].time.count, 1);
    ck_assert_uint_eq(collect->instant_ticks, 0);
    ck_assert_uint_eq(collect->communication.count, 1);
}
END_TEST

/* A call that waits for a rank, with stamps of its own. */
static void wait_for(uint32_t rank)
{
    uint64_t began = mds_begin(collect, WAIT, MDS_BLOCKING);
    struct bcs_stamps stamps = {.rank = OWN};

    mds_call.stamps = &stamps;
    while (bcs_clock_ticks() - began < 1000) {
    }
    bcs_stamps_note(&stamps, bcs_stamp_make(bcs_clock_ticks(), rank),
                    BCS_STAMP_CAUSE_RECEIVER);
    mds_end(collect, WAIT, MDS_BLOCKING, began);
}

START_TEST(a_call_is_split_by_the_stamps_of_its_thread)
{
    const struct mds_split *split = &collect->primitives[WAIT].split;

    wait_for(LATE);
    ck_assert_uint_gt(split->ticks[MDS_PART_RECEIVER], 0);
    ck_assert_uint_eq(split->ticks[MDS_PART_OTHER], 0);
    ck_assert_uint_eq(mds_peers(collect)[LATE].late_ticks[MDS_PART_RECEIVER],
                      split->ticks[MDS_PART_RECEIVER]);
}
END_TEST

START_TEST(to_wait_for_another_thread_of_the_process_is_transfer)
{
    const struct mds_split *split = &collect->primitives[WAIT].split;

    wait_for(OWN);
    ck_assert_uint_gt(split->ticks[MDS_PART_TRANSFER], 0);
    ck_assert_uint_eq(split->ticks[MDS_PART_RECEIVER], 0);
}
END_TEST

START_TEST(the_next_call_has_none_of_these_stamps)
{
    const struct mds_split *split = &collect->primitives[WAIT].split;
    uint64_t began, transfer;

    wait_for(LATE);
    transfer = split->ticks[MDS_PART_TRANSFER];
    began = mds_begin(collect, WAIT, MDS_BLOCKING);
    while (bcs_clock_ticks() - began < 1000) {
    }
    mds_end(collect, WAIT, MDS_BLOCKING, began);
    ck_assert_uint_ge(split->ticks[MDS_PART_OTHER], 1000);
    ck_assert_uint_eq(split->ticks[MDS_PART_TRANSFER], transfer);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("mmds_threads");

    tcase_add_checked_fixture(tcase, start, stop);
    tcase_add_test(tcase, a_thread_beside_is_no_part_of_what_the_process_does);
    tcase_add_test(tcase, a_call_is_split_by_the_stamps_of_its_thread);
    tcase_add_test(tcase, to_wait_for_another_thread_of_the_process_is_transfer);
    tcase_add_test(tcase, the_next_call_has_none_of_these_stamps);
    return run_tcase("mmds_threads", tcase);
}
