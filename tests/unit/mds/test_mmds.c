/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Main MDS: recording, the summary, merging and the report.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/fabric/base/notice.h"
#include "mds/live.h"
#include "mds/mmds.h"
#include "tests/unit/run_suite.h"

enum { SEND, ISEND, BARRIER, N_PRIMITIVES };

static const char *const names[N_PRIMITIVES] = {"MPI_Send", "MPI_Isend", "MPI_Barrier"};

static const struct mds_shape shape = {.n_ranks = 4, .bits = 3};

/* Where calls are recorded. */
static struct mds_collect *collect;

/* Start recording into collect. */
static int start(bool is_shared)
{
    static const enum mds_timing timings[N_PRIMITIVES] = {MDS_BLOCKING, MDS_INSTANT,
                                                          MDS_BLOCKING};
    const struct mmds_plan plan = {
        .is_shared = is_shared,
        .shape = shape,
        .rank = 1,
        .names = names,
        .timings = timings,
        .n_primitives = N_PRIMITIVES,
    };

    return mmds_start(&plan, &collect);
}

/* One call of a primitive, with a call of another one inside if inner >= 0. */
static void call(uint32_t primitive, enum mds_timing timing, int inner)
{
    uint64_t began = mds_begin(collect, primitive, timing);

    if (inner >= 0) {
        call((uint32_t)inner, MDS_BLOCKING, -1);
    }
    mds_end(collect, primitive, timing, began);
}

static void record(struct mmds_summary *summary_out, void (*program)(void))
{
    ck_assert_int_eq(start(true), 0);
    program();
    mmds_stop(collect);
    mmds_summarize(collect, summary_out);
    mds_live_drop(collect, NULL);
    collect = NULL;
}

static void three_primitives(void)
{
    for (int i = 0; i < 1000; i++) {
        call(ISEND, MDS_INSTANT, -1);
        call(SEND, MDS_BLOCKING, -1);
    }
    call(BARRIER, MDS_BLOCKING, SEND);
}

static void assert_accounted(const struct mmds_summary *summary)
{
    /* one rounding of half a nanosecond for each of the two totals */
    ck_assert_uint_le(summary->gap_ns, 1);
}

START_TEST(nothing_is_recorded_when_off)
{
    call(SEND, MDS_BLOCKING, -1);
    ck_assert_uint_eq(mds_call.depth, 0);
}
END_TEST

START_TEST(computation_and_communication_are_the_run_time)
{
    struct mmds_summary summary;

    record(&summary, three_primitives);
    ck_assert_uint_gt(summary.run_ns, 0);
    assert_accounted(&summary);
}
END_TEST

START_TEST(blocking_calls_delimit_the_computation)
{
    struct mmds_summary summary;

    record(&summary, three_primitives);
    ck_assert_uint_eq(summary.communication.count, 1001);
    ck_assert_uint_eq(summary.computation.count, 1002);
    ck_assert_uint_eq(summary.primitives[SEND].count, 1000);
    ck_assert_uint_eq(summary.primitives[ISEND].count, 1000);
    ck_assert_uint_gt(summary.instant_ns, 0);
}
END_TEST

START_TEST(a_call_within_a_call_is_not_recorded)
{
    struct mmds_summary summary;

    record(&summary, three_primitives);
    ck_assert_uint_eq(summary.primitives[BARRIER].count, 1);
    ck_assert_uint_eq(summary.primitives[SEND].count, 1000);
}
END_TEST

static void *thread_main(void *arg)
{
    (void)arg;
    for (int i = 0; i < 20000; i++) {
        call(SEND, MDS_BLOCKING, -1);
        call(ISEND, MDS_INSTANT, -1);
    }
    return NULL;
}

static void four_threads(void)
{
    pthread_t threads[4];

    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, thread_main, NULL), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
}

START_TEST(threads_that_overlap_are_accounted_once)
{
    struct mmds_summary summary;

    record(&summary, four_threads);
    ck_assert_uint_eq(summary.primitives[SEND].count, 80000);
    ck_assert_uint_eq(summary.primitives[ISEND].count, 80000);
    ck_assert_uint_le(summary.communication.total_ns, summary.run_ns);
    assert_accounted(&summary);
}
END_TEST

START_TEST(ticks_become_nanoseconds_by_the_clocks_of_the_run)
{
    struct mds_collect *collect = calloc(1, sizeof(*collect));
    struct mmds_summary summary;

    *collect = (struct mds_collect){.start_ticks = 1000,
                                    .stop_ticks = 4000,
                                    .start_ns = 50,
                                    .stop_ns = 1050,
                                    .since_ticks = 1000};
    mds_interval_add(&collect->computation, 600);
    mds_interval_add(&collect->communication, 2100);
    mds_interval_add(&collect->primitives[SEND].time, 2100);
    mds_interval_add(&collect->computation, 300);
    mmds_summarize(collect, &summary);
    free(collect);

    ck_assert_uint_eq(summary.run_ns, 1000);
    ck_assert_uint_eq(summary.computation.total_ns, 300);
    ck_assert_uint_eq(summary.computation.min_ns, 100);
    ck_assert_uint_eq(summary.computation.max_ns, 200);
    ck_assert_uint_eq(summary.primitives[SEND].total_ns, 700);
    ck_assert_uint_eq(summary.gap_ns, 0);
}
END_TEST

START_TEST(a_lost_interval_shows_as_gap)
{
    struct mds_collect *collect = calloc(1, sizeof(*collect));
    struct mmds_summary summary;

    *collect = (struct mds_collect){.stop_ticks = 1000, .stop_ns = 1000};
    mds_interval_add(&collect->computation, 400);
    mds_interval_add(&collect->communication, 500);
    mmds_summarize(collect, &summary);
    free(collect);
    ck_assert_uint_eq(summary.gap_ns, 100);
}
END_TEST

START_TEST(a_clock_that_runs_backwards_counts_as_nothing)
{
    uint64_t began;

    ck_assert_int_eq(start(false), 0);
    mds_begin(collect, SEND, MDS_INSTANT);
    began = bcs_clock_ticks() + (UINT64_C(1) << 40);
    mds_end(collect, ISEND, MDS_INSTANT, began);
    ck_assert_uint_eq(collect->primitives[ISEND].time.total_ticks, 0);
    ck_assert_uint_eq(collect->primitives[ISEND].time.count, 1);
    mds_live_drop(collect, NULL);
    collect = NULL;
}
END_TEST

START_TEST(a_stamp_before_the_last_one_is_not_counted_twice)
{
    ck_assert_int_eq(start(false), 0);
    collect->since_ticks = 100;
    mds_switch(collect, false, 250);
    mds_switch(collect, true, 240);
    mds_switch(collect, false, 300);
    ck_assert_uint_eq(collect->computation.total_ticks, 200);
    ck_assert_uint_eq(collect->communication.total_ticks, 0);
    ck_assert_uint_eq(collect->since_ticks, 300);
    mds_live_drop(collect, NULL);
    collect = NULL;
}
END_TEST

/** Points of a distribution from a bucket on. */
static uint64_t points_from(uint32_t distribution, uint32_t first)
{
    uint64_t n = 0;

    for (uint32_t i = first; i < collect->n_buckets; i++) {
        n += mds_distribution(collect, distribution) == NULL
                 ? 0
                 : mds_distribution(collect, distribution)[i];
    }
    return n;
}

START_TEST(lengths_and_times_are_distributed_where_it_is_asked_for)
{
    uint32_t of_100 = mds_histogram_bucket(100, shape.bits);

    ck_assert_int_eq(start(false), 0);
    mmds_distribute(collect, SEND);
    for (int i = 0; i < 10; i++) {
        uint64_t began = mds_begin(collect, SEND, MDS_BLOCKING);

        mds_size_add(60);
        mds_size_add(40);
        mds_end(collect, SEND, MDS_BLOCKING, began);
    }
    call(SEND, MDS_BLOCKING, -1);
    call(BARRIER, MDS_BLOCKING, -1);
    mmds_stop(collect);

    ck_assert_uint_eq(collect->primitives[SEND].n_sized, 10);
    ck_assert_uint_eq(collect->primitives[SEND].n_bytes, 1000);
    ck_assert_uint_eq(mds_distribution(collect, MDS_DISTRIBUTION_SIZE + SEND)[of_100],
                      10);
    ck_assert_uint_eq(points_from(MDS_DISTRIBUTION_SIZE + SEND, 0), 10);
    ck_assert_uint_eq(points_from(MDS_DISTRIBUTION_LATENCY + SEND, 0), 11);
    ck_assert_uint_eq(points_from(MDS_DISTRIBUTION_LATENCY + BARRIER, 0), 0);
    ck_assert_uint_eq(points_from(MDS_DISTRIBUTION_COMMUNICATION, 0), 12);
    ck_assert_uint_eq(points_from(MDS_DISTRIBUTION_COMPUTATION, 0), 13);
    mds_live_drop(collect, NULL);
    collect = NULL;
}
END_TEST

START_TEST(messages_are_counted_by_peer)
{
    ck_assert_int_eq(start(true), 0);
    mds_sent(collect, &(struct mds_message){.rank = 3, .comm = 0, .n_bytes = 10});
    mds_sent(collect, &(struct mds_message){.rank = 3, .comm = 1, .n_bytes = 20});
    mds_received(collect, &(struct mds_message){.rank = 0, .comm = 1, .n_bytes = 5});
    ck_assert_uint_eq(collect->comms.table[1].n_sent, 1);
    ck_assert_uint_eq(collect->comms.table[1].sent_bytes, 20);
    ck_assert_uint_eq(collect->comms.table[1].n_received, 1);
    ck_assert_uint_eq(collect->comms.table[1].received_bytes, 5);
    ck_assert_uint_eq(mds_peers(collect)[3].n_sent, 2);
    ck_assert_uint_eq(mds_peers(collect)[3].sent_bytes, 30);
    ck_assert_uint_eq(mds_peers(collect)[0].n_received, 1);
    ck_assert_uint_eq(mds_peers(collect)[0].received_bytes, 5);
    mds_live_drop(collect, NULL);
    collect = NULL;
}
END_TEST

START_TEST(merging_keeps_extremes_and_adds_the_rest)
{
    struct mmds_summary sum = {0}, one = {0}, other = {0};

    one.n_processes = other.n_processes = 1;
    one.n_slices = 7;
    other.n_slices = 5;
    one.primitives[SEND] = (struct mmds_interval){2, 10, 20, 30};
    other.primitives[SEND] = (struct mmds_interval){1, 5, 5, 5};
    other.primitives[BARRIER] = (struct mmds_interval){1, 9, 9, 9};
    one.passed[ISEND] = 3;
    mmds_merge(&sum, &one);
    mmds_merge(&sum, &other);

    ck_assert_uint_eq(sum.n_processes, 2);
    other.primitives[SEND] = (struct mmds_interval){0}; /* never called: no least */
    mmds_interval_merge(&sum.primitives[SEND], &other.primitives[SEND]);
    ck_assert_uint_eq(sum.n_slices, 7);
    ck_assert_uint_eq(sum.primitives[SEND].count, 3);
    ck_assert_uint_eq(sum.primitives[SEND].min_ns, 5);
    ck_assert_uint_eq(sum.primitives[SEND].max_ns, 20);
    ck_assert_uint_eq(sum.primitives[SEND].total_ns, 35);
    ck_assert_uint_eq(sum.primitives[BARRIER].min_ns, 9);
    ck_assert_uint_eq(sum.passed[ISEND], 3);
}
END_TEST

static void sample(struct mmds_summary *summary_out)
{
    memset(summary_out, 0, sizeof(*summary_out));
    summary_out->n_processes = 1;
    summary_out->run_ns = 10000000;
    summary_out->n_slices = 42;
    summary_out->computation = (struct mmds_interval){3, 1000000, 5000000, 7000000};
    summary_out->communication = (struct mmds_interval){2, 1000000, 2000000, 3000000};
    summary_out->primitives[SEND] = summary_out->communication;
    summary_out->passed[ISEND] = 12;
    summary_out->passed[BARRIER] = 1;
}

START_TEST(the_table_has_the_form_of_the_paper)
{
    static const char expected[] =
        "\nMMDS, process 0\n"
        "Primitive           Min(ms)     Max(ms)     Total(ms)      Count  "
        "Average(ms)\n"
        "MPI_Send              1.000       2.000         3.000          2        "
        "1.500\n"
        "Comp Granularity      1.000       5.000         7.000          3        "
        "2.333\n"
        "Comm Overhead         1.000       2.000         3.000          2        "
        "1.500\n"
        "Run time 10.000 ms, computation + communication 10.000 ms, gap 0.0000 %\n"
        "Non-blocking primitives 0.000 ms of the computation; slices 42\n"
        "Passed to the MPI library: MPI_Isend 12, MPI_Barrier 1\n";
    struct mmds_summary summary;
    char *text;
    size_t n_bytes;
    FILE *out = open_memstream(&text, &n_bytes);

    sample(&summary);
    mmds_print(out, "MMDS, process 0", names, N_PRIMITIVES, &summary);
    fclose(out);
    ck_assert_str_eq(text, expected);
    free(text);
}
END_TEST

/** The end of what is printed of processes of which so many have not ended. */
static void assert_end(uint64_t n_processes, uint64_t n_unended, const char *end)
{
    struct mmds_summary summary, one;
    char *text;
    size_t n_bytes;
    FILE *out = open_memstream(&text, &n_bytes);

    memset(&summary, 0, sizeof(summary));
    memset(&one, 0, sizeof(one));
    for (uint64_t i = 0; i < n_processes; i++) {
        one.n_processes = 1;
        one.n_unended = i < n_unended;
        one.n_slices = one.n_unended > 0 ? 0 : 7;
        mmds_merge(&summary, &one);
    }
    mmds_print(out, "All", names, N_PRIMITIVES, &summary);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(text, end));
    ck_assert_str_eq(strstr(text, end), end);
    free(text);
}

START_TEST(what_is_not_known_of_who_has_not_ended_is_no_number)
{
    assert_end(3, 3, "slices not known\nPassed to the MPI library: not known\n");
    assert_end(3, 1,
               "slices 7\nPassed to the MPI library: nothing; not known of 1 "
               "processes\n");
    assert_end(3, 0, "slices 7\nPassed to the MPI library: nothing\n");
}
END_TEST

/* Two ranks that did the same. */
static int gather_twice(void *arg, const void *mine, size_t n_bytes, void *all)
{
    if (arg != NULL) {
        return *(int *)arg;
    }
    if (all != NULL) {
        memcpy(all, mine, n_bytes);
        memcpy((char *)all + n_bytes, mine, n_bytes);
    }
    return 0;
}

static int report_of_rank(uint32_t rank, void *arg, char **text_out)
{
    size_t n_bytes;
    struct mmds_report report = {.names = names,
                                 .n_primitives = N_PRIMITIVES,
                                 .rank = rank,
                                 .n_ranks = 2,
                                 .gather = gather_twice,
                                 .arg = arg,
                                 .out = open_memstream(text_out, &n_bytes)};
    struct mmds_summary summary;
    int err;

    sample(&summary);
    err = mmds_report(&report, &summary);
    fclose(report.out);
    return err;
}

START_TEST(rank_0_prints_the_whole_and_then_every_process)
{
    char *text;
    const char *all, *first, *second;

    ck_assert_int_eq(report_of_rank(0, NULL, &text), 0);
    all = strstr(text, "MMDS, all 2 processes");
    first = strstr(text, "MMDS, process 0");
    second = strstr(text, "MMDS, process 1");
    ck_assert_ptr_nonnull(all);
    ck_assert_ptr_nonnull(first);
    ck_assert_ptr_nonnull(second);
    ck_assert(all < first && first < second);
    ck_assert_ptr_nonnull(strstr(text, "MPI_Isend 24"));
    ck_assert_ptr_nonnull(strstr(text, "Fallen back or held up: nothing\n"));
    free(text);

    ck_assert_int_eq(report_of_rank(1, NULL, &text), 0);
    ck_assert_str_eq(text, "");
    free(text);
}
END_TEST

START_TEST(the_report_counts_what_was_said_once)
{
    char *text;

    bcs_log_setup(BCS_LOG_ERROR, 0);
    bcs_notice(BCS_NOTICE_COPY_FORBIDDEN, "first");
    bcs_notice(BCS_NOTICE_COPY_FORBIDDEN, "second");
    ck_assert_int_eq(report_of_rank(0, NULL, &text), 0);
    ck_assert_ptr_nonnull(strstr(text, "Fallen back or held up: copy-forbidden 2\n"));
    free(text);
}
END_TEST

START_TEST(nothing_is_printed_if_gathering_fails)
{
    int err = -EIO;
    char *text;

    ck_assert_int_eq(report_of_rank(0, &err, &text), -EIO);
    ck_assert_str_eq(text, "");
    free(text);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("mmds");

    tcase_add_test(tcase, nothing_is_recorded_when_off);
    tcase_add_test(tcase, computation_and_communication_are_the_run_time);
    tcase_add_test(tcase, blocking_calls_delimit_the_computation);
    tcase_add_test(tcase, a_call_within_a_call_is_not_recorded);
    tcase_add_test(tcase, threads_that_overlap_are_accounted_once);
    tcase_add_test(tcase, ticks_become_nanoseconds_by_the_clocks_of_the_run);
    tcase_add_test(tcase, a_lost_interval_shows_as_gap);
    tcase_add_test(tcase, a_clock_that_runs_backwards_counts_as_nothing);
    tcase_add_test(tcase, a_stamp_before_the_last_one_is_not_counted_twice);
    tcase_add_test(tcase, lengths_and_times_are_distributed_where_it_is_asked_for);
    tcase_add_test(tcase, messages_are_counted_by_peer);
    tcase_add_test(tcase, merging_keeps_extremes_and_adds_the_rest);
    tcase_add_test(tcase, the_table_has_the_form_of_the_paper);
    tcase_add_test(tcase, rank_0_prints_the_whole_and_then_every_process);
    tcase_add_test(tcase, the_report_counts_what_was_said_once);
    tcase_add_test(tcase, nothing_is_printed_if_gathering_fails);
    tcase_add_test(tcase, what_is_not_known_of_who_has_not_ended_is_no_number);
    return run_tcase("mmds", tcase);
}
