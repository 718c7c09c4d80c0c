/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine lock leaves no work behind: who posts and cannot lock relies on the holder
 * to look once more, whatever the holder itself has found to do. The ranks are threads,
 * or contexts that one thread turns.
 */
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "libbcs/api/message/p2p.h"
#include "libbcs/fabric/base/clock.h"
#include "nic_threads/machine/engine_lock.h"
#include "nic_threads/roles/turn.h"
#include "tests/engine/job.h"
#include "tests/unit/run_suite.h"

enum { N_RANKS = 2, N_ROUNDS = 100000, N_POSTS = 2, MOST_PAUSES = 64, TAG = 5 };

static struct job job;
static struct rank ranks[N_RANKS];
static struct nic_view *views[N_RANKS]; /* of the desk of rank 0, each rank's own */

static void setup(void)
{
    const struct job_shape shape = {
        .n_ranks = N_RANKS, .is_direct = true, .is_threaded = true};

    job_open(&job, &shape, ranks);
    for (int i = 0; i < N_RANKS; i++) {
        views[i] = nic_engine_view_at(ranks[i].context->engine, 0);
    }
}

static void teardown(void)
{
    job_close(&job, ranks);
}

/** Post the receive of a message to oneself. */
static void post_receive(struct rank *me, struct bcs_request *request)
{
    struct bcs_message message = rank_message(me, me->rank, TAG, NULL, 0);

    rank_expect(me, bcs_recv(me->context, &message, NULL, request) == 0, "no receive");
}

/** Post a message to oneself. */
static void post_send(struct rank *me)
{
    struct bcs_message message = rank_message(me, me->rank, TAG, NULL, 0);
    struct bcs_request request;

    rank_expect(me,
                bcs_send(me->context, &message, BCS_SEND_STANDARD, &request) == 0 &&
                    bcs_is_done(&request),
                "no send");
}

START_TEST(a_holder_hears_of_those_who_could_not_lock)
{
    ck_assert(nic_engine_try_lock(views[1]));
    ck_assert(!nic_engine_unlock(views[1]));

    ck_assert(nic_engine_try_lock(views[1]));
    post_send(&ranks[0]);
    ck_assert(!nic_engine_turn(ranks[0].context->engine));
    ck_assert(nic_engine_unlock(views[1]));
    ck_assert(nic_engine_turn_at(ranks[1].context->engine, 0));

    ck_assert(nic_engine_try_lock(views[1]));
    ck_assert(!nic_engine_unlock(views[1])); /* it has heard */
}
END_TEST

START_TEST(a_holder_hears_of_those_who_leave_work)
{
    ck_assert(!nic_engine_tell_holder(views[0]));
    ck_assert(nic_engine_try_lock(views[1]));
    ck_assert(nic_engine_tell_holder(views[0]));
    ck_assert(nic_engine_unlock(views[1]));
    ck_assert(!nic_engine_tell_holder(views[0]));
}
END_TEST

/** Where both threads wait for each other, as closely as they can. */
static void meet(uint32_t number)
{
    static _Atomic uint32_t n_come;

    atomic_fetch_add(&n_come, 1);
    while (atomic_load(&n_come) < number * N_RANKS) {
        sched_yield();
    }
}

/** Pass a moment that differs from time to time. */
static void linger(struct rank *me)
{
    for (uint32_t n = rank_random(me) % MOST_PAUSES; n > 0; n--) {
        bcs_clock_pause();
    }
}

/** Post and take turns; when both have done so, nothing may be left. */
static void *take_turns(void *argument)
{
    struct rank *me = argument;
    struct bcs_request requests[N_POSTS];

    for (uint32_t round = 0; round < N_ROUNDS; round++) {
        meet(2 * round + 1);
        for (int i = 0; i < N_POSTS; i++) {
            post_receive(me, &requests[i]);
            nic_engine_turn_all(me->context->engine);
            linger(me);
            post_send(me);
            nic_engine_turn_all(me->context->engine);
        }
        meet(2 * round + 2);
        for (int i = 0; i < N_POSTS; i++) {
            rank_expect(me, bcs_look(me->context, &requests[i]), "a message is left");
            bcs_test(me->context, &requests[i], true);
        }
    }
    return NULL;
}

START_TEST(nothing_is_left_when_all_have_taken_their_turns)
{
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, take_turns, &ranks[1]), 0);
    take_turns(&ranks[0]);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(atomic_load(&job.shared->n_errors), 0);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("engine_lock");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, a_holder_hears_of_those_who_could_not_lock);
    tcase_add_test(tcase, a_holder_hears_of_those_who_leave_work);
    tcase_add_test(tcase, nothing_is_left_when_all_have_taken_their_turns);
    return run_tcase("engine_lock", tcase);
}
