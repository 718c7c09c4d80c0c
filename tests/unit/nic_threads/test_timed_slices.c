/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timed slices, one at a time: two ranks are contexts of this process, and a slice runs
 * when the test says so. What is counted is slices, as in Figures 3.1 and 3.2 of
 * BCS-MPI: a call that is posted while slice i is the last one runs in slice i + 1, and
 * is complete when slice i + 2 begins.
 */
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "nic_threads/drivers/driver.h"
#include "nic_threads/machine/engine_lock.h"
#include "nic_threads/roles/roles.h"
#include "nic_threads/roles/turn.h"
#include "tests/engine/job.h"
#include "tests/pattern.h"
#include "tests/unit/run_suite.h"

enum {
    N_RANKS = 2,
    SENDER = 0,
    RECEIVER = 1,
    CHUNK = 49152,
    N_BYTES = 240000,
    N_CHUNKS = 5,
};

static struct job job;
static struct rank ranks[N_RANKS];
static struct nic_engine *engine; /* of whoever runs the slices */
static uint8_t source[N_BYTES], target[N_BYTES];

static void setup_job(uint32_t node_ranks)
{
    const struct job_shape shape = {
        .n_ranks = N_RANKS,
        .node_ranks = node_ranks,
        .is_direct = true,
        .is_threaded = true,
        .is_timed = true,
    };

    job_open(&job, &shape, ranks);
    engine = job_open_background(&job, true);
    pattern_fill(source, N_BYTES, 0);
    memset(target, 0, sizeof(target));
}

static void setup_node(void)
{
    setup_job(0);
}

static void setup_nodes(void)
{
    setup_job(1);
}

static void teardown(void)
{
    nic_engine_destroy(engine);
    job_close(&job, ranks);
}

static void run_slices(int n)
{
    for (int i = 0; i < n; i++) {
        nic_engine_run_slice(engine);
    }
}

static void post_send(int tag, size_t n_bytes, enum bcs_send_mode mode,
                      struct bcs_request *request)
{
    struct bcs_message message =
        rank_message(&ranks[SENDER], RECEIVER, tag, source, n_bytes);

    ck_assert_int_eq(bcs_send(ranks[SENDER].context, &message, mode, request), 0);
}

static void post_receive(int tag, void *data, size_t n_bytes,
                         struct bcs_request *request)
{
    struct bcs_message message =
        rank_message(&ranks[RECEIVER], SENDER, tag, data, n_bytes);

    ck_assert_int_eq(bcs_recv(ranks[RECEIVER].context, &message, NULL, request), 0);
}

static bool is_complete(int rank, struct bcs_request *request)
{
    return bcs_look(ranks[rank].context, request);
}

static const size_t short_lengths[] = {0, 8, 80, 81, 5000, 32768};
enum { N_SHORT = sizeof(short_lengths) / sizeof(short_lengths[0]) };

START_TEST(a_short_message_runs_in_the_next_slice_and_is_seen_when_that_is_over)
{
    struct bcs_request sending, receiving;

    run_slices(3);
    ck_assert_uint_eq(bcs_context_slices(ranks[SENDER].context), 3);
    post_send(1, short_lengths[_i], BCS_SEND_SYNCHRONOUS, &sending);
    post_receive(1, target, short_lengths[_i], &receiving);
    run_slices(1);
    ck_assert(!is_complete(SENDER, &sending));
    ck_assert(!is_complete(RECEIVER, &receiving));
    run_slices(1);
    ck_assert(is_complete(SENDER, &sending));
    ck_assert(is_complete(RECEIVER, &receiving));
    ck_assert_mem_eq(target, source, short_lengths[_i]);
    ck_assert_uint_eq(bcs_context_slices(ranks[SENDER].context), 5);
}
END_TEST

START_TEST(a_message_runs_in_the_slice_after_the_later_of_its_ends)
{
    struct bcs_request sending, receiving;

    post_receive(1, target, 8, &receiving);
    run_slices(4);
    ck_assert(!is_complete(RECEIVER, &receiving));
    post_send(1, 8, BCS_SEND_SYNCHRONOUS, &sending);
    run_slices(1);
    ck_assert(!is_complete(RECEIVER, &receiving));
    run_slices(1);
    ck_assert(is_complete(RECEIVER, &receiving));
    ck_assert(is_complete(SENDER, &sending));
}
END_TEST

START_TEST(a_long_message_takes_a_slice_for_each_chunk_and_no_help)
{
    struct bcs_request sending, receiving;

    post_send(1, N_BYTES, BCS_SEND_STANDARD, &sending);
    post_receive(1, target, N_BYTES, &receiving);
    run_slices(N_CHUNKS);
    ck_assert_mem_eq(target, source, N_BYTES); /* and neither process has looked */
    ck_assert(!is_complete(SENDER, &sending));
    ck_assert(!is_complete(RECEIVER, &receiving));
    run_slices(1);
    ck_assert(is_complete(SENDER, &sending));
    ck_assert(is_complete(RECEIVER, &receiving));
}
END_TEST

START_TEST(each_slice_moves_one_chunk)
{
    struct bcs_request sending, receiving;

    post_send(1, N_BYTES, BCS_SEND_STANDARD, &sending);
    post_receive(1, target, N_BYTES, &receiving);
    for (size_t end = CHUNK; end < N_BYTES; end += CHUNK) {
        run_slices(1);
        ck_assert_mem_eq(target, source, end);
        ck_assert_int_eq(memcmp(target + end, source + end, 16) == 0, 0);
    }
}
END_TEST

START_TEST(a_full_slice_leaves_the_rest_to_the_next)
{
    enum { N = 3 }; /* long messages of one chunk; two fit a slice */
    static uint8_t targets[N][CHUNK];
    struct bcs_request sending[N], receiving[N];

    ranks[SENDER].context->config.eager_limit_bytes = 4096;
    memset(targets, 0, sizeof(targets));
    for (int i = 0; i < N; i++) {
        post_receive(i, targets[i], CHUNK, &receiving[i]);
        post_send(i, CHUNK, BCS_SEND_STANDARD, &sending[i]);
    }
    run_slices(2);
    ck_assert(is_complete(RECEIVER, &receiving[0]));
    ck_assert(is_complete(RECEIVER, &receiving[1]));
    ck_assert(!is_complete(RECEIVER, &receiving[2]));
    run_slices(1);
    ck_assert(is_complete(RECEIVER, &receiving[2]));
    ck_assert_mem_eq(targets[2], source, CHUNK);
}
END_TEST

START_TEST(a_slice_takes_all_that_was_posted_before_it)
{
    enum { N = 200 }; /* more than one round takes */
    static struct bcs_request receiving[N];
    static uint64_t values[N];

    for (int i = 0; i < N; i++) {
        struct bcs_request sending;

        post_receive(i, &values[i], 8, &receiving[i]);
        post_send(i, 8, BCS_SEND_STANDARD, &sending);
    }
    run_slices(1);
    for (int i = 0; i < N; i++) {
        ck_assert(!is_complete(RECEIVER, &receiving[i]));
    }
    run_slices(1);
    for (int i = 0; i < N; i++) {
        ck_assert(is_complete(RECEIVER, &receiving[i]));
    }
}
END_TEST

START_TEST(a_receive_that_was_matched_is_not_cancelled)
{
    struct bcs_request sending, receiving;

    post_send(1, 8, BCS_SEND_STANDARD, &sending);
    ck_assert(is_complete(SENDER, &sending)); /* buffered */
    run_slices(5);
    post_receive(1, target, 8, &receiving);
    bcs_cancel(ranks[RECEIVER].context, &receiving);
    run_slices(2);
    ck_assert(is_complete(RECEIVER, &receiving)); /* matched before the cancellation */
    ck_assert_int_eq(receiving.result.error, 0);
}
END_TEST

/** Who looks at a desk while a slice runs, as the search for misuse does. */
struct holder {
    struct nic_view *view;
    _Atomic bool is_over; /* the slice */
    bool was_over;        /* while the desk was held */
};

/** Let go of the desk only when others have wanted it twice. */
static void *hold(void *arg)
{
    struct holder *holder = arg;
    _Atomic uint32_t *lock = &holder->view->desk->lock;

    for (int i = 0; i < 2; i++) {
        while ((atomic_load(lock) & NIC_LOCK_IS_MISSED) == 0 && !holder->was_over) {
            holder->was_over = atomic_load(&holder->is_over);
            sched_yield();
        }
        atomic_fetch_and(lock, ~NIC_LOCK_IS_MISSED);
    }
    nic_engine_unlock(holder->view);
    return NULL;
}

START_TEST(a_slice_waits_for_who_looks_at_a_desk)
{
    struct bcs_request sending, receiving;
    struct holder holder = {
        .view = nic_engine_view(ranks[_i].context->engine, (uint32_t)_i)};
    pthread_t thread;

    post_send(1, N_BYTES, BCS_SEND_STANDARD, &sending);
    post_receive(1, target, N_BYTES, &receiving);
    run_slices(1);
    ck_assert(nic_engine_try_lock(holder.view));
    ck_assert_int_eq(pthread_create(&thread, NULL, hold, &holder), 0);
    run_slices(1);
    atomic_store(&holder.is_over, true);
    pthread_join(thread, NULL);
    ck_assert(!holder.was_over);
    run_slices(N_CHUNKS - 2);
    ck_assert_mem_eq(target, source, N_BYTES);
    run_slices(1);
    ck_assert(is_complete(SENDER, &sending));
    ck_assert(is_complete(RECEIVER, &receiving));
}
END_TEST

START_TEST(slices_without_work_are_numbered_too)
{
    run_slices(1000);
    ck_assert_uint_eq(bcs_context_slices(ranks[SENDER].context), 1000);
    ck_assert_uint_eq(bcs_context_slices(ranks[RECEIVER].context), 1000);
}
END_TEST

/** Turns of a wait until it announces itself, at most so many. */
static int n_polls(uint32_t n_cpus, uint64_t stay_ticks, int at_most)
{
    struct nic_engine *own = ranks[RECEIVER].context->engine;
    struct bcs_waiter waiter = {0};
    int n = 0;

    own->machine->n_cpus = n_cpus;
    own->stay_ticks = stay_ticks;
    while (n < at_most && !waiter.spell.is_announced) {
        nic_driver_timed.turn(own, &waiter);
        n += !waiter.spell.is_announced;
    }
    nic_driver_timed.stop(own, &waiter);
    ck_assert(!waiter.spell.is_announced);
    return n;
}

START_TEST(a_waiter_polls_for_its_time_if_it_has_a_core)
{
    struct nic_engine *own = ranks[RECEIVER].context->engine;

    ck_assert_int_eq(n_polls(N_RANKS, UINT64_MAX, 1000), 1000);
    ck_assert_int_lt(n_polls(N_RANKS, 1, 1000), 1000);
    ck_assert_int_eq(n_polls(N_RANKS, 0, 1000), 0);
    ck_assert_int_eq(n_polls(N_RANKS - 1, UINT64_MAX, 1000), 0);
    own->is_threaded = true;
    ck_assert_int_eq(n_polls(N_RANKS, UINT64_MAX, 1000), 0);
}
END_TEST

START_TEST(a_waiter_lends_its_core_while_it_polls)
{
    struct nic_engine *own = ranks[RECEIVER].context->engine;
    struct bcs_waiter waiter = {0};
    cpu_set_t before, here;
    int cpu;

    ck_assert_int_eq(sched_getaffinity(0, sizeof(before), &before), 0);
    for (cpu = 0; !CPU_ISSET(cpu, &before); cpu++) {
    }
    CPU_ZERO(&here);
    CPU_SET(cpu, &here);
    ck_assert_int_eq(sched_setaffinity(0, sizeof(here), &here), 0);
    own->machine->n_cpus = N_RANKS;
    own->stay_ticks = UINT64_MAX;
    for (int round = 0; round < 2; round++) {
        ck_assert_uint_eq(own->machine->lent_cpus, 0);
        nic_driver_timed.turn(own, &waiter);
        ck_assert_uint_eq(own->machine->lent_cpus,
                          cpu < BCS_LENT_CPUS ? UINT64_C(1) << cpu : 0);
        nic_driver_timed.stop(own, &waiter);
        waiter = (struct bcs_waiter){0};
    }
    ck_assert_uint_eq(own->machine->lent_cpus, 0);
    own->stay_ticks = 0; /* it sleeps, and lends nothing */
    nic_driver_timed.turn(own, &waiter);
    ck_assert_uint_eq(own->machine->lent_cpus, 0);
    nic_driver_timed.stop(own, &waiter);
    sched_setaffinity(0, sizeof(before), &before);
}
END_TEST

/** Whether the next strobe would be sent. */
static bool is_strobe_needed(void)
{
    bool is_needed = false;

    for (uint32_t i = 0; i < engine->n_nodes; i++) {
        is_needed |= !nic_strobe_receiver_is_at_rest(nic_engine_view_at(engine, i));
    }
    return is_needed;
}

/** More slices than any exchange of short messages takes. */
static void come_to_rest(void)
{
    run_slices(4);
    ck_assert(!is_strobe_needed());
}

START_TEST(a_receive_alone_needs_no_strobe)
{
    struct bcs_request sending, receiving;

    ck_assert(!is_strobe_needed());
    post_receive(1, target, 8, &receiving);
    ck_assert(!is_strobe_needed());
    post_send(1, 8, BCS_SEND_STANDARD, &sending);
    ck_assert(is_strobe_needed());
    run_slices(1);
    ck_assert(is_strobe_needed()); /* to deliver */
    run_slices(1);
    ck_assert(is_complete(RECEIVER, &receiving));
    come_to_rest();
}
END_TEST

START_TEST(a_receive_needs_a_strobe_if_a_message_waits)
{
    struct bcs_request sending, receiving;

    post_send(1, 8, BCS_SEND_STANDARD, &sending);
    come_to_rest();
    post_receive(1, target, 8, &receiving);
    ck_assert(is_strobe_needed());
    run_slices(2);
    ck_assert(is_complete(RECEIVER, &receiving));
    come_to_rest();
}
END_TEST

START_TEST(the_receive_of_a_message_that_a_probe_has_taken_needs_a_strobe)
{
    struct bcs_poster *poster = &ranks[RECEIVER].context->poster;
    struct bcs_descriptor *entry = bcs_ring_next(&poster->ring);

    *entry = (struct bcs_descriptor){.kind = BCS_RECEIVE, .flags = BCS_TAKE};
    bcs_ring_publish(&poster->ring, entry);
    ck_assert(is_strobe_needed());
}
END_TEST

START_TEST(what_follows_a_receive_needs_a_strobe)
{
    struct bcs_request receiving;

    post_receive(1, target, 8, &receiving);
    bcs_cancel(ranks[RECEIVER].context, &receiving);
    ck_assert(is_strobe_needed());
    run_slices(2);
    ck_assert(is_complete(RECEIVER, &receiving));
    ck_assert_int_eq(receiving.result.error, BCS_E_CANCELLED);
    come_to_rest();
}
END_TEST

START_TEST(many_receives_need_a_strobe_before_the_ring_is_full)
{
    static struct bcs_request receiving[BCS_RING_MOST];
    static uint64_t values[BCS_RING_MOST];
    int n = 0;

    while (!is_strobe_needed() && n < BCS_RING_MOST - 1) {
        post_receive(n, &values[n], 8, &receiving[n]);
        n++;
    }
    ck_assert(is_strobe_needed());
    come_to_rest();
}
END_TEST

/** Whether a slice that takes so many entries wakes their owner, who sleeps. */
static bool wakes_owner_of(int n_entries)
{
    static struct bcs_request receiving[BCS_RING_MOST];
    static uint64_t values[BCS_RING_MOST];
    struct nic_engine *own = ranks[RECEIVER].context->engine;
    struct bcs_waiter waiter = {0};
    bool is_awake;

    for (int i = 0; i < n_entries; i++) {
        post_receive(i, &values[i], 8, &receiving[i]);
    }
    nic_waiter_announce(own, &waiter);
    run_slices(2);
    is_awake = nic_engine_port(own, own->port)->park % 2 == 0;
    nic_driver_timed.stop(own, &waiter);
    return is_awake;
}

START_TEST(a_slice_wakes_who_waits_for_room)
{
    ck_assert(wakes_owner_of(BCS_RING_MOST));
    ck_assert(!wakes_owner_of(BCS_RING_MOST - 1));
    ck_assert(!wakes_owner_of(1));
    ck_assert(wakes_owner_of(BCS_RING_MOST));
}
END_TEST

static void add_tests(TCase *tcase)
{
    tcase_add_loop_test(
        tcase, a_short_message_runs_in_the_next_slice_and_is_seen_when_that_is_over, 0,
        N_SHORT);
    tcase_add_test(tcase, a_message_runs_in_the_slice_after_the_later_of_its_ends);
    tcase_add_test(tcase, a_long_message_takes_a_slice_for_each_chunk_and_no_help);
    tcase_add_test(tcase, each_slice_moves_one_chunk);
    tcase_add_test(tcase, a_full_slice_leaves_the_rest_to_the_next);
    tcase_add_test(tcase, a_slice_takes_all_that_was_posted_before_it);
    tcase_add_test(tcase, a_receive_that_was_matched_is_not_cancelled);
    tcase_add_loop_test(tcase, a_slice_waits_for_who_looks_at_a_desk, 0, N_RANKS);
    tcase_add_test(tcase, slices_without_work_are_numbered_too);
    tcase_add_test(tcase, a_waiter_polls_for_its_time_if_it_has_a_core);
    tcase_add_test(tcase, a_waiter_lends_its_core_while_it_polls);
    tcase_add_test(tcase, a_receive_alone_needs_no_strobe);
    tcase_add_test(tcase, a_receive_needs_a_strobe_if_a_message_waits);
    tcase_add_test(tcase,
                   the_receive_of_a_message_that_a_probe_has_taken_needs_a_strobe);
    tcase_add_test(tcase, what_follows_a_receive_needs_a_strobe);
    tcase_add_test(tcase, many_receives_need_a_strobe_before_the_ring_is_full);
    tcase_add_test(tcase, a_slice_wakes_who_waits_for_room);
}

int main(void)
{
    Suite *suite = suite_create("timed_slices");

    add_case(suite, "one node", setup_node, teardown, add_tests);
    add_case(suite, "two nodes", setup_nodes, teardown, add_tests);
    return run_suite(suite);
}
