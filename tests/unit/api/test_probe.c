/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probes that do not wait: the ranks are contexts of this process, on demand and with
 * timed slices that the test runs itself, on one node and on two. If a probe waited for
 * a slice, it would wait for ever here, but where the test says so. What pollers do
 * with their core is counted, too: sched_yield is this file's.
 */
#include <check.h>
#include <pthread.h>
#include <sched.h>

#include "libbcs/api/message/post.h"
#include "nic_threads/drivers/driver.h"
#include "nic_threads/roles/turn.h"
#include "tests/engine/job.h"
#include "tests/unit/run_suite.h"

enum {
    N_RANKS = 2,
    SENDER = 0,
    RECEIVER = 1,
    N_POLLS = 1000,
    TAG = 5,
};

static struct job job;
static struct rank ranks[N_RANKS];
static struct nic_engine *engine; /* of whoever runs the timed slices */
static unsigned int n_yields;

int sched_yield(void)
{
    n_yields++;
    return 0;
}

static void setup_job(uint32_t node_ranks, bool is_timed)
{
    const struct job_shape shape = {
        .n_ranks = N_RANKS,
        .node_ranks = node_ranks,
        .is_direct = true,
        .is_threaded = true,
        .is_timed = is_timed,
    };

    job_open(&job, &shape, ranks);
    engine = job_open_background(&job, false);
    n_yields = 0;
}

/** The job of a loop test: on demand or timed, on one node or two. */
static void open_nth(int i)
{
    setup_job(i % 2 == 0 ? 0 : 1, i / 2 != 0);
}

enum { N_JOBS = 4 };

static void close_job(void)
{
    nic_engine_destroy(engine);
    job_close(&job, ranks);
}

static bool is_timed(void)
{
    return job.shape.is_timed;
}

/** Have all that has been posted carried out. */
static void carry_out(void)
{
    if (is_timed()) {
        nic_engine_run_slice(engine);
        nic_engine_run_slice(
            engine); /* several nodes give ring entries back in this one */
    } else {
        nic_engine_turn_all(engine);
    }
}

static pthread_t timekeeper;
static _Atomic bool is_stopping;

static void *run_slices(void *none)
{
    while (!is_stopping) {
        carry_out();
    }
    return none;
}

/** From now on slices come by themselves; on demand the probes run them. */
static void begin_slices(void)
{
    is_stopping = false;
    if (is_timed()) {
        ck_assert_int_eq(pthread_create(&timekeeper, NULL, run_slices, NULL), 0);
    }
}

static void end_slices(void)
{
    is_stopping = true;
    if (is_timed()) {
        ck_assert_int_eq(pthread_join(timekeeper, NULL), 0);
    }
}

static void send_to(uint32_t from, uint32_t to, int value)
{
    struct bcs_message message =
        rank_message(&ranks[from], (int)to, TAG, &value, sizeof(value));

    ck_assert_int_eq(bcs_send(ranks[from].context, &message, BCS_SEND_STANDARD, NULL),
                     0);
}

static void send(int value)
{
    send_to(SENDER, RECEIVER, value);
}

static void receive_tag(int tag, int *value_out, struct bcs_request *request)
{
    struct bcs_message message =
        rank_message(&ranks[RECEIVER], SENDER, tag, value_out, sizeof(*value_out));

    ck_assert_int_eq(bcs_recv(ranks[RECEIVER].context, &message, NULL, request), 0);
}

static void receive(int *value_out, struct bcs_request *request)
{
    receive_tag(TAG, value_out, request);
}

/** Probe for a message of any source. @return whether there is one */
static bool probe(int tag, struct bcs_result *result_out)
{
    struct bcs_message message =
        rank_message(&ranks[RECEIVER], BCS_ANY_SOURCE, tag, NULL, 0);
    int rc = bcs_probe(ranks[RECEIVER].context, &message, false, result_out);

    ck_assert(rc == 0 || rc == BCS_E_PENDING);
    return rc == 0;
}

static bool probe_and_take(uint32_t *item_out)
{
    struct bcs_message message = rank_message(&ranks[RECEIVER], SENDER, TAG, NULL, 0);
    struct bcs_result result;
    int rc = bcs_mprobe(ranks[RECEIVER].context, &message, false, &result, item_out);

    ck_assert(rc == 0 || rc == BCS_E_PENDING);
    return rc == 0;
}

static void fetch(struct bcs_request *request)
{
    carry_out();
    ck_assert(bcs_look(ranks[RECEIVER].context, request));
}

START_TEST(a_probe_that_finds_nothing_posts_nothing_and_waits_for_no_slice)
{
    struct bcs_result result;
    uint64_t n_slices;
    uint32_t item, position;

    open_nth(_i);
    n_slices = bcs_context_slices(ranks[RECEIVER].context);
    position = ranks[RECEIVER].context->poster.ring.position;
    for (int i = 0; i < N_POLLS; i++) {
        ck_assert(!probe(BCS_ANY_TAG, &result));
        ck_assert(!probe_and_take(&item));
    }
    ck_assert_uint_eq(bcs_context_slices(ranks[RECEIVER].context), n_slices);
    ck_assert_uint_eq(ranks[RECEIVER].context->poster.ring.position, position);
    close_job();
}
END_TEST

START_TEST(a_probe_finds_what_slices_have_taken)
{
    struct bcs_result result;

    open_nth(_i);
    send(1);
    ck_assert(probe(TAG, &result) == !is_timed()); /* on demand it takes a turn */
    carry_out();
    for (int i = 0; i < 2; i++) { /* and leaves it where it is */
        ck_assert(!probe(TAG + 1, &result));
        ck_assert(probe(i == 0 ? TAG : BCS_ANY_TAG, &result));
        ck_assert_int_eq(result.source, SENDER);
        ck_assert_int_eq(result.tag, TAG);
        ck_assert_uint_eq(result.n_bytes, sizeof(int));
    }
    close_job();
}
END_TEST

START_TEST(a_receive_that_was_posted_before_comes_first)
{
    struct bcs_result result;
    struct bcs_request request;
    int value;

    open_nth(_i);
    send(1);
    carry_out();
    ck_assert(probe(TAG, &result));
    receive(&value, &request);
    begin_slices();
    ck_assert(!probe(TAG, &result));
    end_slices();
    send(2);
    fetch(&request);
    ck_assert_int_eq(value, 1);
    ck_assert(probe(TAG, &result));
    receive(&value, &request);
    fetch(&request);
    ck_assert_int_eq(value, 2);
    ck_assert(!probe(TAG, &result));
    close_job();
}
END_TEST

/* Its ring entry may not have been given back yet. */
START_TEST(what_was_sent_before_something_received_is_found)
{
    struct bcs_message other;
    struct bcs_request request;
    struct bcs_result result;
    int value;

    open_nth(_i);
    send(1);
    send(2);
    other = rank_message(&ranks[RECEIVER], SENDER, TAG, &value, sizeof(value));
    ck_assert_int_eq(bcs_recv(ranks[RECEIVER].context, &other, NULL, &request), 0);
    fetch(&request);
    ck_assert_int_eq(value, 1);
    bcs_port_ring(ranks[RECEIVER].context->poster.port)->consumed--;
    ck_assert(probe(TAG, &result));
    bcs_port_ring(ranks[RECEIVER].context->poster.port)->consumed++;
    close_job();
}
END_TEST

START_TEST(a_claimed_message_is_the_claimers_at_once)
{
    struct bcs_request claimed, later;
    struct bcs_message description;
    int values[2] = {0, 0};
    uint32_t item, second;

    open_nth(_i);
    send(1);
    send(2);
    carry_out();
    ck_assert(probe_and_take(&item));
    receive(&values[1], &later); /* both are in the ring when the next slice begins */
    description = rank_message(&ranks[RECEIVER], SENDER, TAG, &values[0], sizeof(int));
    ck_assert_int_eq(bcs_imrecv(ranks[RECEIVER].context, &description, item, &claimed),
                     0);
    begin_slices();
    ck_assert(!probe_and_take(&second));
    end_slices();
    fetch(&later);
    ck_assert(bcs_look(ranks[RECEIVER].context, &claimed));
    ck_assert_int_eq(values[0], 1);
    ck_assert_int_eq(values[1], 2);
    close_job();
}
END_TEST

/** Each rank has a core: who waits keeps its lock. */
static void give_cores(void)
{
    ranks[RECEIVER].context->engine->machine->n_cpus = N_RANKS;
}

/* What the caller knows to be there is found, whatever it has posted since. */
START_TEST(a_message_is_found_behind_a_receive_of_another_one)
{
    struct bcs_request request;
    struct bcs_result result;
    int value;

    open_nth(_i);
    send(1);
    carry_out();
    ck_assert(probe(TAG, &result));
    receive_tag(TAG + 1, &value, &request);
    give_cores();
    begin_slices();
    ck_assert(probe(TAG, &result));
    end_slices();
    close_job();
}
END_TEST

START_TEST(a_message_is_claimed_behind_another_claim)
{
    uint32_t items[2];

    open_nth(_i);
    send(1);
    send(2);
    carry_out();
    ck_assert(probe_and_take(&items[0]));
    give_cores();
    begin_slices();
    ck_assert(probe_and_take(&items[1]));
    end_slices();
    ck_assert_uint_ne(items[0], items[1]);
    close_job();
}
END_TEST

START_TEST(a_message_is_claimed_though_the_ring_is_full)
{
    uint32_t item;

    open_nth(_i);
    send(1);
    carry_out();
    for (uint32_t i = 0; i <= ranks[RECEIVER].context->poster.ring.mask; i++) {
        send_to(RECEIVER, SENDER, (int)i);
    }
    give_cores();
    begin_slices();
    ck_assert(probe_and_take(&item));
    end_slices();
    close_job();
}
END_TEST

/** How often a poller that finds nothing yields its core, in N_POLLS tests and as many
 *  probes. */
static unsigned int count_yields(uint32_t n_cpus)
{
    struct bcs_request request;
    struct bcs_result result;
    int value;

    setup_job(0, false);
    ranks[RECEIVER].context->engine->machine->n_cpus = n_cpus;
    receive(&value, &request);
    for (int i = 0; i < N_POLLS; i++) {
        ck_assert_int_eq(bcs_test(ranks[RECEIVER].context, &request, false),
                         BCS_E_PENDING);
        ck_assert(!probe(BCS_ANY_TAG, &result));
    }
    close_job();
    return n_yields;
}

START_TEST(a_poller_with_a_core_keeps_it)
{
    ck_assert_uint_eq(count_yields(N_RANKS), 0);
}
END_TEST

START_TEST(a_poller_without_a_core_lets_the_others_run_each_time)
{
    ck_assert_uint_ge(count_yields(N_RANKS - 1), 2 * N_POLLS);
}
END_TEST

/* What a poll itself has completed is seen by it, before it yields. */
START_TEST(a_poll_that_finds_something_yields_no_core)
{
    struct bcs_result result;

    setup_job(0, false);
    ranks[RECEIVER].context->engine->machine->n_cpus = 1;
    send(1);
    ck_assert(probe(TAG, &result));
    ck_assert_uint_eq(n_yields, 0);
    close_job();
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("probe");

    tcase_add_loop_test(tcase,
                        a_probe_that_finds_nothing_posts_nothing_and_waits_for_no_slice,
                        0, N_JOBS);
    tcase_add_loop_test(tcase, a_probe_finds_what_slices_have_taken, 0, N_JOBS);
    tcase_add_loop_test(tcase, a_receive_that_was_posted_before_comes_first, 0, N_JOBS);
    tcase_add_loop_test(tcase, what_was_sent_before_something_received_is_found, 0,
                        N_JOBS);
    tcase_add_loop_test(tcase, a_claimed_message_is_the_claimers_at_once, 0, N_JOBS);
    tcase_add_loop_test(tcase, a_message_is_found_behind_a_receive_of_another_one, 0,
                        N_JOBS);
    tcase_add_loop_test(tcase, a_message_is_claimed_behind_another_claim, 0, N_JOBS);
    tcase_add_loop_test(tcase, a_message_is_claimed_though_the_ring_is_full, 0, N_JOBS);
    tcase_add_test(tcase, a_poller_with_a_core_keeps_it);
    tcase_add_test(tcase, a_poller_without_a_core_lets_the_others_run_each_time);
    tcase_add_test(tcase, a_poll_that_finds_something_yields_no_core);
    return run_tcase("probe", tcase);
}
