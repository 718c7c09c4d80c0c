/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Main MDS: what blocking calls have waited for, from the stamps of what they were
 * about.
 */
#include <check.h>

#include "mds/live.h"
#include "mds/mmds.h"
#include "tests/unit/run_suite.h"

enum { RECV, ISEND, BARRIER, N_PRIMITIVES };
enum { OWN = 2, OTHER = 3, THIRD = 1, UNIT = 1 << BCS_STAMP_UNIT_SHIFT };

static struct mds_collect *collect;
static struct bcs_stamps stamps = {.is_on = true, .rank = OWN};

static void start(bool is_shared)
{
    static const char *const names[N_PRIMITIVES] = {"MPI_Recv", "MPI_Isend",
                                                    "MPI_Barrier"};
    static const enum mds_timing timings[N_PRIMITIVES] = {MDS_BLOCKING, MDS_INSTANT,
                                                          MDS_BLOCKING};
    const struct mmds_plan plan = {
        .is_shared = is_shared,
        .shape = {.n_ranks = 4, .bits = 1},
        .names = names,
        .timings = timings,
        .n_primitives = N_PRIMITIVES,
        .stamps = &stamps,
    };

    ck_assert_int_eq(mmds_start(&plan, &collect), 0);
}

static void stop(void)
{
    mmds_stop(collect);
    mds_live_drop(collect, NULL);
}

/* Stamps of two moments near each other, also where the counter goes round. */
START_TEST(the_later_of_two_stamps_is_found)
{
    const uint64_t moments[] = {UNIT * 100, (UINT64_C(1) << 48) - 2 * UNIT,
                                UINT64_MAX - 2 * UNIT};

    for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
        uint64_t early = bcs_stamp_make(moments[i], OTHER);
        uint64_t late = bcs_stamp_make(moments[i] + 4 * UNIT, THIRD);

        ck_assert_uint_eq(bcs_stamp_later(early, late), late);
        ck_assert_uint_eq(bcs_stamp_later(late, early), late);
        ck_assert_uint_eq(bcs_stamp_rank(late), THIRD);
        ck_assert_uint_eq(bcs_stamp_ticks(late, moments[i]) -
                              bcs_stamp_ticks(early, moments[i]),
                          4 * UNIT);
        ck_assert_uint_le(moments[i] - bcs_stamp_ticks(early, moments[i]) + UNIT,
                          2 * UNIT);
    }
    ck_assert_uint_eq(bcs_stamp_later(BCS_STAMP_NONE, 7), 7);
    ck_assert_uint_eq(bcs_stamp_later(7, BCS_STAMP_NONE), 7);
}
END_TEST

/* What facts come to. A moment is in units, odd ones, as stamps are. */
static struct mds_split_call split(uint64_t began, uint64_t ended, uint64_t posted,
                                   const struct bcs_slice_begins *begins)
{
    const struct mds_split_facts facts = {
        .began = began * UNIT,
        .ticks = (ended - began) * UNIT,
        .latest = posted == 0 ? BCS_STAMP_NONE : bcs_stamp_make(posted * UNIT, OTHER),
        .rank = OWN,
        .part = MDS_PART_RECEIVER,
        .is_known = true,
        .begins = begins,
    };

    return mds_split_of(&facts);
}

static void expect(const struct mds_split_call *call, uint64_t late, uint64_t slice,
                   uint64_t transfer)
{
    ck_assert_uint_eq(call->late, late * UNIT);
    ck_assert_uint_eq(call->split.ticks[MDS_PART_RECEIVER], late * UNIT);
    ck_assert_uint_eq(call->split.ticks[MDS_PART_SLICE], slice * UNIT);
    ck_assert_uint_eq(call->split.ticks[MDS_PART_TRANSFER], transfer * UNIT);
    ck_assert_uint_eq(call->split.ticks[MDS_PART_SENDER], 0);
    ck_assert_uint_eq(call->split.ticks[MDS_PART_OTHER], 0);
}

START_TEST(a_call_waits_until_the_other_end_has_posted)
{
    struct mds_split_call call = split(101, 131, 121, NULL);

    expect(&call, 20, 0, 10);
    ck_assert_uint_eq(call.rank, OTHER);
    call = split(101, 131, 91, NULL); /* before */
    expect(&call, 0, 0, 30);
    call = split(101, 131, 141, NULL); /* clocks of cores that differ */
    expect(&call, 30, 0, 0);
    call = split(101, 131, 0, NULL); /* nothing was waited for */
    expect(&call, 0, 0, 30);
}
END_TEST

START_TEST(nobody_waits_for_itself)
{
    const struct mds_split_facts facts = {
        .began = 101 * UNIT,
        .ticks = 30 * UNIT,
        .latest = bcs_stamp_make(121 * UNIT, OWN),
        .rank = OWN,
        .part = MDS_PART_COLLECTIVE,
        .is_known = true,
    };

    ck_assert_uint_eq(mds_split_of(&facts).late, 0);
    ck_assert_uint_eq(mds_split_of(&facts).split.ticks[MDS_PART_TRANSFER], 30 * UNIT);
}
END_TEST

START_TEST(then_it_waits_for_a_slice)
{
    struct bcs_slice_begins begins = {.n = 0};
    struct mds_split_call call;

    bcs_slice_begins_add(&begins, 95 * UNIT);
    bcs_slice_begins_add(&begins, 110 * UNIT);
    call = split(101, 131, 121, &begins); /* none has begun since */
    expect(&call, 20, 0, 10);
    bcs_slice_begins_add(&begins, 125 * UNIT);
    bcs_slice_begins_add(&begins, 140 * UNIT);
    call = split(101, 131, 121, &begins);
    expect(&call, 20, 4, 6);
    call = split(101, 131, 91, &begins); /* both have posted when it begins */
    expect(&call, 0, 9, 21);
    call = split(101, 131, 129, &begins); /* it ends before the slice begins */
    expect(&call, 28, 2, 0);
    call = split(101, 131, 0, &begins); /* it has waited for nothing */
    expect(&call, 0, 0, 30);
}
END_TEST

START_TEST(slices_that_are_long_ago_are_forgotten)
{
    struct bcs_slice_begins begins = {.n = 0};

    ck_assert_uint_eq(bcs_slice_begins_after(&begins, 1), 0);
    for (uint64_t i = 1; i < BCS_SLICE_BEGINS; i++) {
        bcs_slice_begins_add(&begins, 10 * i);
    }
    ck_assert_uint_eq(bcs_slice_begins_after(&begins, 1), 10);
    for (uint64_t i = BCS_SLICE_BEGINS; i < 3 * BCS_SLICE_BEGINS; i++) {
        bcs_slice_begins_add(&begins, 10 * i);
    }
    ck_assert_uint_eq(bcs_slice_begins_after(&begins, 1), 0);
    ck_assert_uint_eq(bcs_slice_begins_after(&begins, 10 * BCS_SLICE_BEGINS), 0);
    ck_assert_uint_eq(bcs_slice_begins_after(&begins, 20 * BCS_SLICE_BEGINS + 1025),
                      20 * BCS_SLICE_BEGINS + 1030);
    ck_assert_uint_eq(bcs_slice_begins_after(&begins, 30 * BCS_SLICE_BEGINS), 0);
}
END_TEST

/* A blocking call that has waited for something with a stamp, by so many ticks after
 * its begin. */
static void call_that_notes(uint32_t primitive, uint32_t rank, uint64_t ticks,
                            enum bcs_stamp_cause cause, uint32_t kind)
{
    uint64_t began = mds_begin(collect, primitive, MDS_BLOCKING);

    mds_call.kind = kind;
    if (cause != BCS_STAMP_CAUSE_NONE) {
        bcs_stamps_note(&stamps, bcs_stamp_make(began + ticks, rank), cause);
    }
    while (bcs_clock_ticks() < began + ticks + 100) {
    }
    mds_end(collect, primitive, MDS_BLOCKING, began);
}

static const struct mds_primitive *of(uint32_t primitive)
{
    return &collect->primitives[primitive];
}

static uint64_t sum_of(const struct mds_split *split)
{
    uint64_t sum = 0;

    for (int i = 0; i < MDS_N_PARTS; i++) {
        sum += split->ticks[i];
    }
    return sum;
}

START_TEST(calls_record_their_parts)
{
    const uint64_t n = 64 * UNIT;

    start(false);
    call_that_notes(RECV, OTHER, n, BCS_STAMP_CAUSE_SENDER, MDS_EVENT_RECEIVED);
    ck_assert_uint_ge(of(RECV)->split.ticks[MDS_PART_SENDER], n - UNIT);
    ck_assert_uint_le(of(RECV)->split.ticks[MDS_PART_SENDER], n + UNIT);
    call_that_notes(RECV, THIRD, 2 * n, BCS_STAMP_CAUSE_RECEIVER, 0);
    ck_assert_uint_ge(of(RECV)->split.ticks[MDS_PART_RECEIVER], 2 * n - UNIT);
    ck_assert_uint_eq(of(RECV)->split.ticks[MDS_PART_OTHER], 0);
    ck_assert_uint_eq(sum_of(&of(RECV)->split), of(RECV)->time.total_ticks);
    /* a collective over messages */
    call_that_notes(BARRIER, THIRD, n, BCS_STAMP_CAUSE_SENDER, MDS_EVENT_COLLECTIVE);
    ck_assert_uint_ge(of(BARRIER)->split.ticks[MDS_PART_COLLECTIVE], n - UNIT);
    ck_assert_uint_eq(of(BARRIER)->split.ticks[MDS_PART_SENDER], 0);
    /* nothing is known of what it has waited for */
    call_that_notes(BARRIER, 0, n, BCS_STAMP_CAUSE_NONE, 0);
    ck_assert_uint_ge(of(BARRIER)->split.ticks[MDS_PART_OTHER], n);
    ck_assert_uint_eq(sum_of(&of(BARRIER)->split), of(BARRIER)->time.total_ticks);
    ck_assert_uint_eq(mds_peers(collect)[OTHER].late_ticks[MDS_PART_SENDER],
                      of(RECV)->split.ticks[MDS_PART_SENDER]);
    ck_assert_uint_eq(mds_peers(collect)[THIRD].late_ticks[MDS_PART_RECEIVER],
                      of(RECV)->split.ticks[MDS_PART_RECEIVER]);
    ck_assert_uint_eq(mds_peers(collect)[THIRD].late_ticks[MDS_PART_COLLECTIVE],
                      of(BARRIER)->split.ticks[MDS_PART_COLLECTIVE]);
    stop();
}
END_TEST

START_TEST(the_latest_of_several_counts)
{
    uint64_t began;

    start(false);
    began = mds_begin(collect, RECV, MDS_BLOCKING);
    bcs_stamps_note(&stamps, bcs_stamp_make(began + 64 * UNIT, OTHER),
                    BCS_STAMP_CAUSE_SENDER);
    bcs_stamps_note(&stamps, bcs_stamp_make(began + 32 * UNIT, THIRD),
                    BCS_STAMP_CAUSE_RECEIVER);
    while (bcs_clock_ticks() < began + 80 * UNIT) {
    }
    mds_end(collect, RECV, MDS_BLOCKING, began);
    ck_assert_uint_ge(mds_peers(collect)[OTHER].late_ticks[MDS_PART_SENDER], 63 * UNIT);
    ck_assert_uint_eq(of(RECV)->split.ticks[MDS_PART_RECEIVER], 0);
    stop();
}
END_TEST

START_TEST(a_call_forgets_what_the_one_before_has_waited_for)
{
    uint64_t began;

    start(false);
    call_that_notes(RECV, OTHER, 64 * UNIT, BCS_STAMP_CAUSE_SENDER, 0);
    ck_assert_uint_eq(stamps.own, BCS_STAMP_NONE);
    began = mds_begin(collect, RECV, MDS_BLOCKING);
    ck_assert_uint_eq(bcs_stamps_own(&stamps), bcs_stamp_make(began, OWN));
    ck_assert_uint_eq(bcs_stamps_onward(&stamps), bcs_stamp_make(began, OWN));
    bcs_stamps_note(&stamps, BCS_STAMP_NONE, BCS_STAMP_CAUSE_SENDER);
    ck_assert(stamps.is_blind);
    mds_call.kind = MDS_EVENT_RECEIVED; /* of a message, and of what is not known */
    mds_end(collect, RECV, MDS_BLOCKING, began);
    ck_assert_uint_gt(of(RECV)->split.ticks[MDS_PART_OTHER], 0);
    began = mds_begin(collect, RECV, MDS_BLOCKING);
    ck_assert(!stamps.is_blind);
    bcs_stamps_note(&stamps, bcs_stamp_make(began + 64 * UNIT, OTHER),
                    BCS_STAMP_CAUSE_SENDER);
    ck_assert_uint_eq(bcs_stamp_rank(bcs_stamps_onward(&stamps)), OTHER);
    mds_end(collect, RECV, MDS_BLOCKING, began);
    stop();
}
END_TEST

START_TEST(calls_of_several_threads_are_not_split)
{
    start(true);
    call_that_notes(RECV, OTHER, 64 * UNIT, BCS_STAMP_CAUSE_SENDER, MDS_EVENT_RECEIVED);
    ck_assert_uint_eq(of(RECV)->split.ticks[MDS_PART_OTHER],
                      of(RECV)->time.total_ticks);
    stop();
}
END_TEST

START_TEST(a_rank_that_is_late_most_of_the_time_is_found)
{
    struct mds_fault fault = {0};

    mds_fault_add(&fault, THIRD, 30);
    mds_fault_add(&fault, OTHER, 20);
    mds_fault_add(&fault, OTHER, 20);
    ck_assert_uint_eq(fault.rank, OTHER);
    ck_assert_uint_eq(fault.ticks, 10);
    mds_fault_add(&fault, OTHER, 5);
    ck_assert_uint_eq(fault.ticks, 15);
}
END_TEST

START_TEST(parts_are_rounded_to_their_sum)
{
    const struct mds_split ticks = {{1, 1, 1, 1, 1, 1}};
    struct mmds_split ns = mmds_split_of(&ticks, 0.4), sum = {{0}};

    ck_assert_uint_eq(mmds_split_total_ns(&ns), 2); /* 6 * 0.4, rounded */
    mmds_split_merge(&sum, &ns);
    mmds_split_merge(&sum, &ns);
    ck_assert_uint_eq(mmds_split_total_ns(&sum), 4);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("split");

    tcase_add_test(tcase, the_later_of_two_stamps_is_found);
    tcase_add_test(tcase, a_call_waits_until_the_other_end_has_posted);
    tcase_add_test(tcase, nobody_waits_for_itself);
    tcase_add_test(tcase, then_it_waits_for_a_slice);
    tcase_add_test(tcase, slices_that_are_long_ago_are_forgotten);
    tcase_add_test(tcase, calls_record_their_parts);
    tcase_add_test(tcase, the_latest_of_several_counts);
    tcase_add_test(tcase, a_call_forgets_what_the_one_before_has_waited_for);
    tcase_add_test(tcase, calls_of_several_threads_are_not_split);
    tcase_add_test(tcase, a_rank_that_is_late_most_of_the_time_is_found);
    tcase_add_test(tcase, parts_are_rounded_to_their_sum);
    return run_tcase("split", tcase);
}
