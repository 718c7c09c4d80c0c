/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is recorded of slices: two ranks are contexts of this process, and a slice runs
 * when the test says so, or, on demand, when one of them takes a turn. Numbers are
 * those of what the test has posted, times are held against each other.
 */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/api/collective/engine_collective.h"
#include "nic_threads/drivers/driver.h"
#include "nic_threads/node/monitor.h"
#include "nic_threads/roles/turn.h"
#include "tests/engine/job.h"
#include "tests/unit/run_suite.h"

enum { N_RANKS = 2, N_SPANS = 64, N_BARRIERS = 3 };
enum { LONG_BYTES = 100000, ALL = (1 << BCS_METRICS) - 1 };

static struct job job;
static struct rank ranks[N_RANKS];
static struct nic_engine *engine; /* of whoever runs timed slices */
static uint8_t source[LONG_BYTES], target[LONG_BYTES];

/** What one monitor has. */
struct recorded {
    struct bcs_span *spans;
    size_t n;
    uint64_t shift;
};

static void open_job(uint32_t node_ranks, bool is_timed,
                     struct nic_record_config record)
{
    const struct job_shape shape = {
        .n_ranks = N_RANKS,
        .node_ranks = node_ranks,
        .is_direct = true,
        .is_threaded = true,
        .is_timed = is_timed,
        .record = record,
    };

    job_open(&job, &shape, ranks);
    engine = is_timed ? job_open_background(&job, true) : NULL;
}

static void close_job(void)
{
    nic_engine_destroy(engine);
    job_close(&job, ranks);
}

static const struct nic_record_config everything = {.n_spans = N_SPANS, .metrics = ALL};

/** Number `number` of the monitors, the strobe sender's being the last. */
static struct recorded read_monitor(uint32_t number)
{
    const struct nic_engine *engine = ranks[0].context->engine;
    struct recorded recorded;

    nic_engine_view_at(engine, number < engine->n_views ? number : 0);
    ck_assert_int_eq(nic_monitor_copy(&engine->recorders[number], &recorded.spans,
                                      &recorded.n, &recorded.shift),
                     0);
    return recorded;
}

static struct recorded read_sender(void)
{
    return read_monitor(ranks[0].context->engine->n_views);
}

static const struct bcs_tally *local(const struct recorded *recorded, size_t i,
                                     enum bcs_metric metric)
{
    return &recorded->spans[i].tallies[metric - BCS_METRICS_LOCAL];
}

static uint64_t total(const struct recorded *recorded, enum bcs_metric metric)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < recorded->n; i++) {
        sum += local(recorded, i, metric)->total;
    }
    return sum;
}

static void run_slices(int n)
{
    for (int i = 0; i < n; i++) {
        nic_engine_run_slice(engine);
    }
}

static void post(int from, int tag, size_t n_bytes, struct bcs_request requests[2])
{
    struct bcs_message send =
        rank_message(&ranks[from], 1 - from, tag, source, n_bytes);
    struct bcs_message receive =
        rank_message(&ranks[1 - from], from, tag, target, n_bytes);

    ck_assert_int_eq(
        bcs_send(ranks[from].context, &send, BCS_SEND_STANDARD, &requests[0]), 0);
    ck_assert_int_eq(bcs_recv(ranks[1 - from].context, &receive, NULL, &requests[1]),
                     0);
}

static void finish(int from, struct bcs_request requests[2])
{
    while (!bcs_look(ranks[from].context, &requests[0]) ||
           !bcs_look(ranks[1 - from].context, &requests[1])) {
        run_slices(1);
    }
}

START_TEST(each_timed_slice_has_its_number_and_what_was_posted_before_it)
{
    struct bcs_request requests[2];
    struct recorded node;

    open_job(0, true, everything);
    run_slices(2);
    post(0, 1, 8, requests);
    run_slices(3);
    node = read_monitor(0);
    ck_assert_uint_eq(node.n, 5);
    for (size_t i = 0; i < node.n; i++) {
        bool has_message = i == 2;

        ck_assert_uint_eq(node.spans[i].first, i + 1);
        ck_assert_uint_eq(node.spans[i].n_slices, 1);
        ck_assert_uint_eq(local(&node, i, BCS_METRIC_NP2PDEM)->total,
                          has_message ? 2 : 0);
        ck_assert_uint_eq(local(&node, i, BCS_METRIC_NP2PMSM)->total, has_message);
        ck_assert_uint_eq(local(&node, i, BCS_METRIC_NP2PDEM)->count, 1);
        ck_assert_uint_eq(local(&node, i, BCS_METRIC_NCOLLDEM)->total, 0);
        ck_assert_uint_eq(local(&node, i, BCS_METRIC_LETTS)->count, i > 0);
        ck_assert_uint_eq(local(&node, i, BCS_METRIC_LTTS)->count, 1);
        ck_assert_uint_eq(local(&node, i, BCS_METRIC_LTR + 1)->count, has_message);
        ck_assert_uint_ge(local(&node, i, BCS_METRIC_LTTS)->total,
                          local(&node, i, BCS_METRIC_LTDEM)->total +
                              local(&node, i, BCS_METRIC_LTMSM)->total);
        if (i > 0) {
            ck_assert_uint_eq(local(&node, i, BCS_METRIC_LETTS)->total,
                              node.spans[i].began - node.spans[i - 1].began);
            ck_assert_uint_ge(local(&node, i, BCS_METRIC_LETTS)->total,
                              local(&node, i - 1, BCS_METRIC_LTTS)->total);
        }
    }
    finish(0, requests);
    free(node.spans);
    close_job();
}
END_TEST

START_TEST(a_long_message_is_an_operation_in_each_slice_that_moves_a_chunk)
{
    struct bcs_request requests[2];
    struct recorded node;

    open_job(0, true, everything);
    post(0, 1, LONG_BYTES, requests); /* three chunks of 48 KB */
    finish(0, requests);
    node = read_monitor(0);
    ck_assert_uint_eq(total(&node, BCS_METRIC_NP2PDEM), 2);
    ck_assert_uint_eq(total(&node, BCS_METRIC_NP2PMSM), 3);
    ck_assert_uint_gt(local(&node, 0, BCS_METRIC_LTR + 2)->total, 0);
    free(node.spans);
    close_job();
}
END_TEST

/** A thread of a rank that takes part in so many barriers. */
static void *take_part(void *rank)
{
    const struct bcs_engine_collective_args barrier = {.kind = BCS_ENGINE_BARRIER,
                                                       .root = -1};
    struct rank *me = rank;

    for (int i = 0; i < N_BARRIERS; i++) {
        rank_expect(me, bcs_engine_collective(me->context, &me->world, &barrier) == 0,
                    "a barrier fails");
    }
    atomic_fetch_add(&job.shared->words[0], 1);
    return NULL;
}

/** All ranks meet in barriers, while slices run. */
static void run_barriers(void)
{
    pthread_t threads[N_RANKS];

    for (int i = 0; i < N_RANKS; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, take_part, &ranks[i]), 0);
    }
    while (atomic_load(&job.shared->words[0]) < N_RANKS) {
        run_slices(1);
    }
    for (int i = 0; i < N_RANKS; i++) {
        pthread_join(threads[i], NULL);
    }
    ck_assert_uint_eq(atomic_load(&job.shared->n_errors), 0);
}

START_TEST(operations_are_counted_where_they_are_posted_and_where_they_go)
{
    struct bcs_request requests[2];
    struct recorded nodes[2];

    open_job(1, true, everything);
    for (int i = 0; i < N_RANKS; i++) {
        rank_open_world(&ranks[i]);
    }
    run_slices(1);
    post(0, 3, 8, requests);
    run_slices(4);
    run_barriers();
    for (uint32_t i = 0; i < 2; i++) {
        nodes[i] = read_monitor(i);
        ck_assert_uint_eq(total(&nodes[i], BCS_METRIC_NP2PDEM), 1); /* its own */
        ck_assert_uint_eq(total(&nodes[i], BCS_METRIC_NCOLLDEM), N_BARRIERS);
        /* at the node of the first member */
        ck_assert_uint_eq(total(&nodes[i], BCS_METRIC_NCOLLMSM),
                          i == 0 ? N_BARRIERS : 0);
    }
    ck_assert_uint_eq(total(&nodes[0], BCS_METRIC_NP2PMSM), 0);
    ck_assert_uint_eq(total(&nodes[1], BCS_METRIC_NP2PMSM), 1); /* matched there */
    finish(0, requests);
    free(nodes[0].spans);
    free(nodes[1].spans);
    close_job();
}
END_TEST

START_TEST(the_longest_of_the_nodes_is_no_longer_than_what_the_sender_saw)
{
    static const enum bcs_metric pairs[][2] = {
        {BCS_METRIC_GTDEM, BCS_METRIC_LTDEM},
        {BCS_METRIC_GTMSM, BCS_METRIC_LTMSM},
        {BCS_METRIC_GTTS, BCS_METRIC_LTTS},
    };
    struct bcs_request requests[2];
    struct recorded sender;

    open_job(1, true, everything);
    for (int i = 0; i < 9; i++) {
        post(i % 2, i, i % 3 == 0 ? LONG_BYTES : 8, requests);
        finish(i % 2, requests);
    }
    sender = read_sender();
    for (uint32_t node = 0; node < 2; node++) {
        struct recorded recorded = read_monitor(node);

        ck_assert_uint_eq(recorded.n, sender.n);
        for (size_t i = 0; i < sender.n; i++) {
            ck_assert_uint_eq(recorded.spans[i].first, sender.spans[i].first);
            ck_assert_uint_ge(local(&recorded, i, BCS_METRIC_LTTS)->total,
                              local(&recorded, i, BCS_METRIC_LTDEM)->total +
                                  local(&recorded, i, BCS_METRIC_LTMSM)->total);
            for (int pair = 0; pair < 3; pair++) {
                ck_assert_uint_le(local(&recorded, i, pairs[pair][1])->most,
                                  sender.spans[i].tallies[pairs[pair][0]].most);
            }
        }
        free(recorded.spans);
    }
    /* node 1 has its turn after the sender's, which asks in vain before it */
    ck_assert_uint_gt(sender.spans[0].tallies[BCS_METRIC_USRTS].total, 0);
    free(sender.spans);
    close_job();
}
END_TEST

START_TEST(only_what_is_wanted_is_recorded)
{
    struct nic_record_config record = {
        .n_spans = N_SPANS,
        .first = 2,
        .n_slices = 3,
        .metrics = 1 << BCS_METRIC_LTTS | 1 << BCS_METRIC_GETTS,
    };
    struct recorded node, sender;

    open_job(0, true, record);
    run_slices(8);
    node = read_monitor(0);
    sender = read_sender();
    ck_assert_uint_eq(node.n, 3);
    ck_assert_uint_eq(node.spans[0].first, 2);
    ck_assert_uint_eq(node.spans[2].first, 4);
    ck_assert_uint_eq(local(&node, 1, BCS_METRIC_LTTS)->count, 1);
    ck_assert_uint_eq(local(&node, 1, BCS_METRIC_LETTS)->count, 0);
    ck_assert_uint_eq(local(&node, 1, BCS_METRIC_NP2PDEM)->count, 0);
    ck_assert_uint_eq(sender.n, 3);
    ck_assert_uint_eq(sender.spans[1].tallies[BCS_METRIC_GETTS].count, 1);
    ck_assert_uint_eq(sender.spans[1].tallies[BCS_METRIC_GTTS].count, 0);
    free(node.spans);
    free(sender.spans);
    close_job();

    record.metrics = 0; /* as of a node that does not record */
    open_job(0, true, record);
    run_slices(3);
    node = read_monitor(0);
    ck_assert_uint_eq(node.n, 0);
    free(node.spans);
    close_job();
}
END_TEST

/** Rank 1 receives so many messages of rank 0, each in a slice of its own. */
static void receive_some(int n)
{
    struct bcs_request requests[2];

    for (int i = 0; i < n; i++) {
        post(0, i, 8, requests);
        ck_assert_int_eq(bcs_test(ranks[1].context, &requests[1], true), 0);
    }
}

START_TEST(on_demand_each_desk_records_by_intervals_of_time)
{
    struct recorded desks[2];
    struct bcs_machine *machine;

    open_job(0, false, everything);
    machine = ranks[0].context->engine->machine;
    machine->slice_ticks = UINT64_C(1) << 50; /* all in one interval, */
    receive_some(20);
    for (int i = 0; i < 2; i++) { /* and then others */
        machine->began.ticks -= machine->slice_ticks;
        nic_engine_view_at(ranks[0].context->engine, 1)->recorder->monitor->next = 1;
        receive_some(20);
    }
    for (uint32_t i = 0; i < 2; i++) {
        desks[i] = read_monitor(i);
    }
    ck_assert_uint_eq(total(&desks[0], BCS_METRIC_NP2PDEM), 0);
    ck_assert_uint_eq(total(&desks[1], BCS_METRIC_NP2PDEM), 120);
    ck_assert_uint_eq(desks[1].n, 3);
    for (size_t i = 0; i < desks[1].n; i++) {
        ck_assert_uint_eq(desks[1].spans[i].first, i);
        ck_assert_uint_eq(desks[1].spans[i].n_slices, 20);
        ck_assert_uint_eq(local(&desks[1], i, BCS_METRIC_NP2PMSM)->total, 20);
        ck_assert_uint_eq(local(&desks[1], i, BCS_METRIC_NP2PMSM)->count, 20);
        /* the receiver, each time */
        ck_assert_uint_eq(local(&desks[1], i, BCS_METRIC_BPTS)->total, 20);
        ck_assert_uint_eq(local(&desks[1], i, BCS_METRIC_LETTS)->count, 20 - (i == 0));
        /* times of the first one, and then of one in 16 */
        ck_assert_uint_eq(local(&desks[1], i, BCS_METRIC_LTTS)->count, 2);
        ck_assert_uint_eq(local(&desks[1], i, BCS_METRIC_LTMSM)->count, 2);
    }
    free(desks[0].spans);
    free(desks[1].spans);
    close_job();
}
END_TEST

/** What was recorded on a node in all. */
static uint64_t recorded_on(uint32_t node, enum bcs_metric metric)
{
    struct bcs_spans spans;
    struct recorded whole;
    uint64_t sum;

    ck_assert_int_eq(nic_engine_recorded(ranks[0].context->engine, node, false, &spans),
                     0);
    whole = (struct recorded){spans.spans, spans.n, spans.shift};
    sum = total(&whole, metric);
    free(spans.spans);
    return sum;
}

/** Of a monitor. */
static uint64_t recorded_at(uint32_t number)
{
    struct recorded recorded = read_monitor(number);
    uint64_t sum = total(&recorded, BCS_METRIC_NP2PDEM);

    free(recorded.spans);
    return sum;
}

START_TEST(all_desks_of_a_node_are_recorded_together)
{
    struct bcs_request requests[2];
    uint32_t n_nodes = _i == 0 ? 1 : N_RANKS;

    open_job((uint32_t)_i, false, everything); /* a node of both, or one each */
    for (int i = 0; i < 3; i++) {              /* more to the one than to the other */
        post(i == 0, i, 8, requests);
        ck_assert_int_eq(bcs_test(ranks[i != 0].context, &requests[1], true), 0);
    }
    for (uint32_t node = 0; node < n_nodes; node++) {
        uint32_t n_desks = ranks[0].context->engine->layout.n_desks;
        uint64_t sum = 0;

        for (uint32_t i = 0; i < n_desks; i++) {
            sum += recorded_at(node * n_desks + i);
        }
        ck_assert_uint_gt(sum, 0);
        ck_assert_uint_eq(recorded_on(node, BCS_METRIC_NP2PDEM), sum);
        /* The desks are free again. */
        ck_assert_uint_eq(recorded_on(node, BCS_METRIC_NP2PDEM), sum);
    }
    close_job();
}
END_TEST

START_TEST(the_strobe_sender_is_recorded_by_itself)
{
    struct recorded sender;
    struct bcs_spans spans;

    open_job(1, true, everything);
    run_slices(5);
    sender = read_sender();
    ck_assert_int_eq(nic_engine_recorded(ranks[0].context->engine, 0, true, &spans), 0);
    ck_assert_uint_eq(spans.n, sender.n);
    ck_assert_mem_eq(spans.spans, sender.spans, sender.n * sizeof(sender.spans[0]));
    free(spans.spans);
    free(sender.spans);
    close_job();
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("monitor");

    tcase_add_test(tcase,
                   each_timed_slice_has_its_number_and_what_was_posted_before_it);
    tcase_add_test(tcase,
                   a_long_message_is_an_operation_in_each_slice_that_moves_a_chunk);
    tcase_add_test(tcase,
                   operations_are_counted_where_they_are_posted_and_where_they_go);
    tcase_add_test(tcase,
                   the_longest_of_the_nodes_is_no_longer_than_what_the_sender_saw);
    tcase_add_test(tcase, only_what_is_wanted_is_recorded);
    tcase_add_test(tcase, on_demand_each_desk_records_by_intervals_of_time);
    tcase_add_loop_test(tcase, all_desks_of_a_node_are_recorded_together, 0, 2);
    tcase_add_test(tcase, the_strobe_sender_is_recorded_by_itself);
    return run_tcase("monitor", tcase);
}
