/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who turns whose desk, where each process matches its own messages: nothing that a
 * process waits for depends on one that computes, and nobody looks at a desk where it
 * has nothing to do. Ranks are contexts of one thread; a rank computes as long as it is
 * not called.
 */
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "libbcs/api/message/p2p.h"
#include "libbcs/api/message/wait.h"
#include "libbcs/fabric/ring/sleep.h"
#include "nic_threads/drivers/pending_desks.h"
#include "nic_threads/machine/engine_lock.h"
#include "nic_threads/roles/roles.h"
#include "nic_threads/roles/turn.h"
#include "tests/engine/job.h"
#include "tests/unit/run_suite.h"

enum { WAITER, OTHER, THIRD, N_RANKS, TAG = 3 };
enum { N_BYTES = 200000, MANY_TURNS = 1000, HELP_US = 20000 };

static struct job job;
static struct rank ranks[N_RANKS];
static char out[N_BYTES], in[N_BYTES];

static void setup(void)
{
    job_open_awake(&job, N_RANKS, ranks);
}

static void teardown(void)
{
    job_close(&job, ranks);
}

static struct nic_engine *engine_of(int rank)
{
    return ranks[rank].context->engine;
}

static void start_send(int from, int to, size_t n_bytes, struct bcs_request *request)
{
    struct bcs_message message = rank_message(&ranks[from], to, TAG, out, n_bytes);

    ck_assert_int_eq(
        bcs_send(ranks[from].context, &message, BCS_SEND_STANDARD, request), 0);
}

static void start_receive(int rank, int from, size_t n_bytes,
                          struct bcs_request *request)
{
    struct bcs_message message = rank_message(&ranks[rank], from, TAG, in, n_bytes);

    ck_assert_int_eq(bcs_recv(ranks[rank].context, &message, NULL, request), 0);
}

/** Turns of a wait until a request is done. @return whether it ever is */
static bool wait_for(int rank, struct bcs_request *request)
{
    struct bcs_waiter waiter = {0};
    bool is_done = false;

    for (int i = 0; i < MANY_TURNS && !is_done; i++) {
        bcs_wait_turn(ranks[rank].context, &waiter);
        is_done = bcs_look(ranks[rank].context, request);
    }
    bcs_wait_stop(ranks[rank].context, &waiter);
    return is_done;
}

/** How many messages lie at the desk of a rank that nobody has received. */
static uint32_t n_kept(int rank)
{
    return nic_engine_own(engine_of(rank))->desk->n_sends_kept;
}

START_TEST(a_sender_that_waits_has_its_message_matched_where_the_receiver_computes)
{
    struct bcs_request receive, send;

    start_receive(OTHER, WAITER, N_BYTES, &receive);
    start_send(WAITER, OTHER, N_BYTES, &send);
    ck_assert_uint_eq(engine_of(WAITER)->n_pending_desks, 1);
    ck_assert(wait_for(WAITER, &send)); /* and it copies, chunk by chunk */
    ck_assert_uint_eq(engine_of(WAITER)->n_pending_desks, 0);
    ck_assert(bcs_look(ranks[OTHER].context, &receive));
}
END_TEST

START_TEST(so_has_one_that_tests)
{
    struct bcs_request receive, send;
    int n = 0;

    start_receive(OTHER, WAITER, N_BYTES, &receive);
    start_send(WAITER, OTHER, N_BYTES, &send);
    while (bcs_test(ranks[WAITER].context, &send, false) == BCS_E_PENDING) {
        ck_assert_int_lt(++n, MANY_TURNS);
    }
    ck_assert_int_gt(n, 0);
    ck_assert(bcs_look(ranks[OTHER].context, &receive));
}
END_TEST

START_TEST(a_locked_desk_is_left_alone_by_who_polls)
{
    struct nic_view *helped = nic_engine_view_at(engine_of(THIRD), OTHER);
    struct bcs_request receive, send;

    start_receive(OTHER, WAITER, N_BYTES, &receive);
    start_send(WAITER, OTHER, N_BYTES, &send);
    ck_assert(nic_engine_try_lock(helped));
    ck_assert(!wait_for(WAITER, &send));
    ck_assert(!nic_engine_unlock(helped)); /* nobody has marked it */
    ck_assert(wait_for(WAITER, &send));
    ck_assert(bcs_look(ranks[OTHER].context, &receive));
}
END_TEST

/** Has the desk of OTHER, from before has_begun until long after: takes what was posted
 *  for it. */
static void *help_slowly(void *has_begun)
{
    struct nic_view *helped = nic_engine_view_at(engine_of(THIRD), OTHER);

    ck_assert(nic_engine_try_lock(helped));
    atomic_store((atomic_bool *)has_begun, true);
    usleep(HELP_US);
    nic_strobe_receiver_run_alone(helped);
    ck_assert(nic_engine_unlock(helped)); /* OTHER has marked it */
    return NULL;
}

static pthread_t start_helper(void)
{
    atomic_bool has_begun = false;
    pthread_t helper;

    ck_assert_int_eq(pthread_create(&helper, NULL, help_slowly, &has_begun), 0);
    while (!atomic_load(&has_begun)) {
        sched_yield();
    }
    return helper;
}

START_TEST(a_probe_waits_for_who_helps_at_the_own_desk)
{
    struct bcs_message wanted = rank_message(&ranks[OTHER], WAITER, TAG, NULL, 0);
    struct bcs_result result;
    struct bcs_request send;
    pthread_t helper;

    start_send(WAITER, OTHER, 8, &send);
    helper = start_helper();
    ck_assert_int_eq(bcs_probe(ranks[OTHER].context, &wanted, false, &result), 0);
    ck_assert_uint_eq(result.n_bytes, 8);
    pthread_join(helper, NULL);
}
END_TEST

START_TEST(so_does_a_test)
{
    struct bcs_request receive, send;
    pthread_t helper;

    start_receive(OTHER, WAITER, 8, &receive);
    start_send(WAITER, OTHER, 8, &send);
    helper = start_helper();
    ck_assert_int_eq(bcs_test(ranks[OTHER].context, &receive, false), 0);
    pthread_join(helper, NULL);
}
END_TEST

START_TEST(nobody_turns_a_desk_where_it_has_nothing_under_way)
{
    struct bcs_request mine, send;

    start_receive(WAITER, BCS_ANY_SOURCE, 8, &mine);
    start_send(THIRD, OTHER, 8, &send);
    ck_assert(bcs_look(ranks[THIRD].context, &send)); /* it is on its way */
    ck_assert(!wait_for(WAITER, &mine));
    ck_assert_uint_eq(n_kept(OTHER), 0);
    nic_engine_turn(engine_of(OTHER));
    ck_assert_uint_eq(n_kept(OTHER), 1);
    start_send(THIRD, WAITER, 8, &send);
    ck_assert(wait_for(WAITER, &mine));
}
END_TEST

START_TEST(who_posts_turns_the_desk_of_a_sleeper_and_no_other)
{
    struct bcs_machine *machine = engine_of(WAITER)->machine;
    struct bcs_port *port = ranks[OTHER].context->poster.port;
    struct bcs_request request;
    uint32_t park;

    bcs_sleep_announce(machine, ranks[THIRD].context->poster.port);
    start_send(WAITER, OTHER, 8, &request);
    ck_assert_uint_eq(n_kept(OTHER), 0);
    start_receive(OTHER, THIRD, 8, &request);
    park = bcs_sleep_announce(machine, port);
    start_send(WAITER, OTHER, 8, &request);
    ck_assert_uint_eq(n_kept(OTHER), 2);
    ck_assert_uint_eq(atomic_load(&port->park), park); /* it has got nothing */
    bcs_sleep_retract(machine, ranks[THIRD].context->poster.port);
    start_send(THIRD, OTHER, 8, &request);
    ck_assert_uint_ne(atomic_load(&port->park), park);
}
END_TEST

START_TEST(who_has_announced_itself_turns_the_desk_that_it_posts_to)
{
    struct bcs_machine *machine = engine_of(WAITER)->machine;
    struct bcs_port *port = ranks[WAITER].context->poster.port;
    struct bcs_request receive, send;
    uint32_t park;

    start_receive(OTHER, WAITER, N_BYTES, &receive);
    park = bcs_sleep_announce(machine, port);
    start_send(WAITER, OTHER, N_BYTES, &send);
    ck_assert(!nic_engine_has_work(nic_engine_own(engine_of(OTHER))));
    ck_assert_uint_ne(atomic_load(&port->park), park); /* it copies now */
    ck_assert(wait_for(WAITER, &send));
    ck_assert(bcs_look(ranks[OTHER].context, &receive));
}
END_TEST

START_TEST(a_full_link_is_emptied_where_the_receiver_computes)
{
    uint32_t n = 3 * engine_of(WAITER)->layout.shape.limits.link;
    struct bcs_request request;

    for (uint32_t i = 0; i < n; i++) {
        start_send(WAITER, OTHER, 8, &request);
    }
    ck_assert_uint_gt(n_kept(OTHER), 0);
    nic_engine_turn(engine_of(OTHER));
    ck_assert_uint_eq(n_kept(OTHER), n);
}
END_TEST

START_TEST(what_is_over_is_forgotten)
{
    struct nic_engine *engine = engine_of(WAITER);

    nic_engine_add_pending(engine, OTHER);
    nic_engine_add_pending(engine, THIRD);
    nic_engine_end_pending(engine);
    ck_assert_uint_eq(engine->pending_desks[0], 1u << OTHER | 1u << THIRD);
    nic_engine_end_pending(engine);
    nic_engine_add_pending(engine, THIRD);
    ck_assert_uint_eq(engine->pending_desks[0], 1u << THIRD);
    nic_engine_end_pending(engine);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("pending_desks");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(
        tcase, a_sender_that_waits_has_its_message_matched_where_the_receiver_computes);
    tcase_add_test(tcase, so_has_one_that_tests);
    tcase_add_test(tcase, a_locked_desk_is_left_alone_by_who_polls);
    tcase_add_test(tcase, a_probe_waits_for_who_helps_at_the_own_desk);
    tcase_add_test(tcase, so_does_a_test);
    tcase_add_test(tcase, nobody_turns_a_desk_where_it_has_nothing_under_way);
    tcase_add_test(tcase, who_posts_turns_the_desk_of_a_sleeper_and_no_other);
    tcase_add_test(tcase, who_has_announced_itself_turns_the_desk_that_it_posts_to);
    tcase_add_test(tcase, a_full_link_is_emptied_where_the_receiver_computes);
    tcase_add_test(tcase, what_is_over_is_forgotten);
    return run_tcase("pending_desks", tcase);
}
