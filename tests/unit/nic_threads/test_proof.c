/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The referee's case: ranks 0 and 1 wait, and rank 2, who judges, knows for whom; at
 * the end it sends what they wait for, in the name of whoever they expect.
 */
#include "nic_threads/referee/proof.h"

#include <check.h>
#include <sched.h>
#include <stdlib.h>

#include "libbcs/api/record/stand_tell.h"
#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/base/park.h"
#include "nic_threads/machine/engine_lock.h"
#include "nic_threads/roles/turn.h"
#include "nic_threads/rules/deadlock.h"
#include "tests/engine/job.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/stand_records.h"

enum { N_RANKS = 3, JUDGE = 2, TAG = 7, N_LONG = BCS_STAND_OPERATIONS + 2 };

static pthread_mutex_t slice = PTHREAD_MUTEX_INITIALIZER; /* there are none */

/** Send a message in the name of a rank. */
static void send_as(struct rank *me, int32_t source, int32_t to, int32_t tag)
{
    struct bcs_group forged = me->world;
    struct bcs_message message = rank_message(me, to, tag, NULL, 0);

    forged.rank = source;
    message.group = &forged;
    bcs_send(me->context, &message, BCS_SEND_STANDARD, NULL);
}

/** What the judge has. */
struct judge {
    struct nic_snapshot *snapshot;
    struct nic_proof *proof;
};

static bool have_answered(const struct judge *judge, uint64_t asked)
{
    bool have = true;

    nic_snapshot_read(judge->snapshot);
    for (uint32_t i = 0; i < JUDGE; i++) {
        have &= nic_snapshot_have(judge->snapshot, i) &&
                nic_snapshot_have_answer(judge->snapshot, i, asked);
    }
    return have;
}

/** Ask two ranks, until their snapshot are true from now on. */
static void ask(struct rank *me, const struct judge *judge)
{
    const uint64_t asked = UINT64_C(1) << BCS_STAND_PAGE_BITS;

    for (uint32_t i = 0; i < JUDGE; i++) {
        atomic_store(&nic_engine_stands(me->context->engine, i)->asked, asked);
    }
    while (!have_answered(judge, asked)) {
        for (uint32_t i = 0; i < JUDGE; i++) {
            bcs_word_wake(&nic_engine_port(me->context->engine, i)->park);
        }
        sched_yield();
    }
}

static struct judge judge_open(struct rank *me)
{
    struct nic_engine *engine = me->context->engine;
    struct judge judge = {0};

    rank_expect(me, nic_snapshot_create(engine, false, &judge.snapshot) == 0, "memory");
    rank_expect(me, nic_proof_create(engine, judge.snapshot, NULL, &judge.proof) == 0,
                "memory");
    ask(me, &judge);
    return judge;
}

static void judge_close(struct judge *judge)
{
    nic_proof_destroy(judge->proof);
    nic_snapshot_destroy(judge->snapshot);
}

static bool has_changed(const struct judge *judge)
{
    return nic_snapshot_have_changed(judge->snapshot,
                                     nic_proof_suspected(judge->proof));
}

static void expect_both_stuck(struct rank *me, const struct judge *judge)
{
    rank_expect(me, nic_proof_suspect(judge->proof, false) == JUDGE, "suspected");
    rank_expect(me, nic_proof_convict(judge->proof, &slice, true) == JUDGE, "stuck");
    for (uint32_t i = 0; i < JUDGE; i++) {
        rank_expect(me, nic_deadlock_has(nic_proof_stuck(judge->proof), i), "who");
    }
    rank_expect(me, !has_changed(judge), "they wait still");
}

static void receive(struct rank *me, int32_t from, int32_t tag)
{
    struct bcs_message message = rank_message(me, from, tag, NULL, 0);

    rank_expect(me, bcs_recv(me->context, &message, NULL, NULL) == 0, "receive");
}

/** Both receive of each other. */
static void two_receive(struct rank *me)
{
    struct nic_unreceived unreceived;
    struct judge judge;

    rank_meet(me);
    if (me->rank != JUDGE) {
        receive(me, 1 - me->rank, TAG);
    } else {
        judge = judge_open(me);
        expect_both_stuck(me, &judge);
        send_as(me, 0, 1, TAG + 1); /* changes nothing */
        expect_both_stuck(me, &judge);
        rank_expect(me, nic_proof_unreceived(judge.proof, &unreceived, 1) == 1, "one");
        rank_expect(me, unreceived.to == 1 && unreceived.tag == TAG + 1, "that one");
        send_as(me, 0, 1, TAG);
        /* Suspected by its old record, but what it waits for has come. */
        rank_expect(me, nic_proof_suspect(judge.proof, false) == JUDGE,
                    "suspected by what it has told");
        rank_expect(me,
                    nic_proof_convict(judge.proof, &slice, true) == 0 ||
                        has_changed(&judge),
                    "not stuck");
        send_as(me, 1, 0, TAG);
        judge_close(&judge);
    }
    rank_meet(me);
    if (me->rank == 1) {
        receive(me, 0, TAG + 1);
    }
    rank_meet(me);
}

/** One of them receives of anybody in a group, to which the judge belongs or not. */
static void one_receives_of_any(struct rank *me, bool is_small)
{
    struct bcs_group small = me->world;
    struct bcs_message any = rank_message(me, BCS_ANY_SOURCE, TAG, NULL, 0);
    struct judge judge;

    rank_meet(me);
    small.size = JUDGE;
    any.group = is_small ? &small : &me->world;
    if (me->rank == 0) {
        receive(me, 1, TAG);
    } else if (me->rank == 1) {
        rank_expect(me, bcs_recv(me->context, &any, NULL, NULL) == 0, "receive");
    } else {
        judge = judge_open(me);
        if (is_small) {
            expect_both_stuck(me, &judge);
        } else {
            rank_expect(me, nic_proof_suspect(judge.proof, false) == 0,
                        "anybody could help");
        }
        send_as(me, 0, 1, TAG);
        send_as(me, 1, 0, TAG);
        judge_close(&judge);
    }
    rank_meet(me);
}

static void one_receives_of_all(struct rank *me)
{
    one_receives_of_any(me, false);
}

static void one_receives_of_both(struct rank *me)
{
    one_receives_of_any(me, true);
}

/** Each waits until its long message is received, and then receives the other one's. */
static void two_send(struct rank *me)
{
    static uint8_t bytes[JUDGE][300000], received[JUDGE][300000];
    struct judge judge;

    rank_meet(me);
    if (me->rank != JUDGE) {
        struct bcs_message message = rank_message(
            me, 1 - me->rank, TAG, received[me->rank], sizeof(received[0]));
        struct bcs_request request;

        receive(me, JUDGE, TAG); /* until the judge is there */
        message.data = bytes[me->rank];
        bcs_send(me->context, &message, BCS_SEND_SYNCHRONOUS, &request);
        receive(me, 1 - me->rank, TAG + 1); /* in place of MPI_Ssend: it can be ended */
        message.data = received[me->rank];
        bcs_recv(me->context, &message, NULL, NULL);
        bcs_test(me->context, &request, true);
    } else {
        send_as(me, JUDGE, 0, TAG);
        send_as(me, JUDGE, 1, TAG);
        judge = judge_open(me);
        expect_both_stuck(me, &judge);
        send_as(me, 0, 1, TAG + 1);
        send_as(me, 1, 0, TAG + 1);
        judge_close(&judge);
    }
    rank_meet(me);
}

/* ------------------------------------------------------------- more than a page */

static uint32_t cells[N_LONG];

enum long_wait { FOR_ANY, FOR_ALL, PLANS };

/** Tell by a page that rank 0 waits for messages of its own in these cells. */
static void tell_page(const struct rank *me, enum long_wait kind, uint32_t page,
                      bool is_turned)
{
    struct bcs_stand *stand = stand_begin();
    struct bcs_stand_slot *slot = stand_slot(me, 0, 0);

    stand_page = page;
    stand->needs_all = kind != FOR_ANY;
    for (int i = 0; i < N_LONG; i++) {
        if (kind == PLANS) {
            stand_add_plan(me, stand, 0, cells[i]);
        } else {
            stand_add(me, stand, 0, cells[i]);
        }
    }
    if (kind == PLANS) {
        stand_add(me, stand, 0, cells[0]);
    }
    (is_turned ? bcs_stand_turn : bcs_stand_write)(slot, stand, (uint32_t)me->size);
}

/** How many are stuck by what is found on a page, and on those before. */
static uint32_t convict_by(struct rank *me, const struct judge *judge,
                           enum long_wait kind, uint32_t page, bool is_first)
{
    tell_page(me, kind, page, true);
    rank_expect(me,
                nic_snapshot_turn(judge->snapshot, nic_proof_suspected(judge->proof)),
                "it is the same wait");
    return nic_proof_convict(judge->proof, &slice, is_first);
}

static uint32_t convict_by_all(struct rank *me, const struct judge *judge,
                               enum long_wait kind)
{
    uint32_t n_pages = nic_proof_n_pages(judge->proof), n = 0;

    for (uint32_t page = 0; page < n_pages; page++) {
        rank_expect(me, n == 0, "not before the last page");
        n = convict_by(me, judge, kind, page, page == 0);
    }
    return n;
}

/** Look at a wait of rank 0 of some kind. @return by how many pages it is told */
static uint32_t look_at(struct rank *me, const struct judge *judge, enum long_wait kind)
{
    tell_page(me, kind, 0, false);
    nic_snapshot_read(judge->snapshot);
    rank_expect(me, nic_proof_suspect(judge->proof, false) == 1, "suspected");
    return nic_proof_n_pages(judge->proof);
}

static void judge_pages(struct rank *me)
{
    struct nic_engine *engine = me->context->engine;
    struct judge judge;

    rank_expect(me, nic_snapshot_create(engine, false, &judge.snapshot) == 0, "memory");
    rank_expect(me, nic_proof_create(engine, judge.snapshot, NULL, &judge.proof) == 0,
                "memory");
    rank_expect(me, look_at(me, &judge, FOR_ANY) == 2, "two pages");
    rank_expect(me, convict_by_all(me, &judge, FOR_ANY) == 1, "stuck");
    rank_expect(me, convict_by_all(me, &judge, FOR_ANY) == 1, "stuck, once more");
    rank_expect(me, convict_by(me, &judge, FOR_ANY, 1, true) == 0, "half of it");
    rank_expect(me, convict_by(me, &judge, FOR_ANY, 0, false) == 0, "the other half");
    rank_expect(me, convict_by(me, &judge, FOR_ANY, 0, false) == 0, "the same again");
    rank_expect(me, convict_by(me, &judge, FOR_ANY, 1, false) == 1, "in their order");
    rank_expect(me, look_at(me, &judge, PLANS) > 2, "small pages");
    rank_expect(me, convict_by_all(me, &judge, PLANS) == 1, "stuck");
    rank_expect(me, look_at(me, &judge, FOR_ALL) == 1, "a partner is told once");
    rank_meet(me);
    rank_meet(me); /* the last one is over */
    rank_expect(me, convict_by(me, &judge, FOR_ALL, 0, true) == 1, "one is enough");
    look_at(me, &judge, FOR_ANY);
    rank_expect(me, convict_by_all(me, &judge, FOR_ANY) == 0, "one is over");
    look_at(me, &judge, PLANS);
    rank_expect(me, convict_by_all(me, &judge, PLANS) == 0, "one goes on");
    stand_tell(me, 0, 0, NULL);
    judge_close(&judge);
}

/** Send rank 0, by itself, what one of its receives waits for. */
static void end_one(struct rank *me, struct bcs_request *request, int i)
{
    send_as(me, 0, 0, TAG + i);
    rank_expect(me, bcs_test(me->context, request, true) == 0, "its end");
}

/** Rank 0 has more receives than a page has; what it waits for is told for it. */
static void one_has_many(struct rank *me)
{
    static struct bcs_request requests[N_LONG];

    for (int i = 0; me->rank == 0 && i < N_LONG; i++) {
        struct bcs_message message = rank_message(me, 0, TAG + i, NULL, 0);

        rank_expect(me, bcs_recv(me->context, &message, NULL, &requests[i]) == 0, "it");
        cells[i] = bcs_request_state(&requests[i])->cell;
    }
    rank_meet(me);
    if (me->rank == JUDGE) {
        judge_pages(me);
    } else {
        rank_meet(me);
        if (me->rank == 0) {
            end_one(me, &requests[N_LONG - 1], N_LONG - 1);
        }
        rank_meet(me);
    }
    rank_meet(me);
    for (int i = 0; me->rank == 0 && i < N_LONG - 1; i++) {
        end_one(me, &requests[i], i);
    }
    rank_meet(me);
}

/* ------------------------------------------------------------ who could not lock a
 * desk */

/** Wait until somebody holds a desk, and leave it work. @param arg  a view of it */
static void *tell_holder(void *arg)
{
    while (!nic_engine_tell_holder(arg)) {
        bcs_clock_pause();
    }
    return NULL;
}

/** Post a message to oneself, to a desk that is locked meanwhile, so that nobody reads
 *  it. */
static void leave_work(struct rank *me, struct nic_view *desk)
{
    ck_assert(nic_engine_try_lock(desk));
    send_as(me, me->rank, me->rank, TAG);
    nic_engine_unlock(desk);
    ck_assert(nic_engine_has_work(desk));
}

START_TEST(work_that_comes_while_it_looks_at_messages_is_not_lost)
{
    const struct job_shape shape = {
        .n_ranks = 2, .is_threaded = true, .is_direct = true};
    struct rank ranks[2];
    struct job job;
    struct nic_view *desk;
    struct nic_unreceived unreceived;
    struct nic_snapshot *snapshot;
    struct nic_proof *proof;
    pthread_t teller;

    job_open(&job, &shape, ranks);
    desk = nic_engine_view(ranks[1].context->engine, 0);
    ck_assert_int_eq(nic_snapshot_create(ranks[1].context->engine, false, &snapshot),
                     0);
    ck_assert_int_eq(nic_proof_create(ranks[1].context->engine, snapshot, NULL, &proof),
                     0);
    leave_work(&ranks[0], desk);
    ck_assert_int_eq(pthread_create(&teller, NULL, tell_holder,
                                    nic_engine_view(ranks[0].context->engine, 0)),
                     0);
    while (pthread_tryjoin_np(teller, NULL) != 0) {
        nic_proof_unreceived(proof, &unreceived, 1);
    }
    ck_assert(!nic_engine_has_work(desk));
    nic_proof_destroy(proof);
    nic_snapshot_destroy(snapshot);
    job_close(&job, ranks);
}
END_TEST

static const struct job_shape shapes[] = {
    {.n_ranks = N_RANKS, .is_threaded = true, .n_cpus = 8},
    {.n_ranks = N_RANKS, .is_threaded = true, .n_cpus = 1},
    {.n_ranks = N_RANKS, .is_threaded = true, .node_ranks = 1, .n_cpus = 8},
    {.n_ranks = N_RANKS, .is_threaded = true, .node_ranks = 2, .n_cpus = 1},
};
enum { N_SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

START_TEST(two_that_receive_of_each_other_are_stuck)
{
    job_run(&shapes[_i], two_receive);
}
END_TEST

START_TEST(who_receives_of_anybody_is_stuck_if_all_are)
{
    job_run(&shapes[_i], one_receives_of_all);
    job_run(&shapes[_i], one_receives_of_both);
}
END_TEST

START_TEST(a_send_that_is_pending_does_not_release_anybody)
{
    job_run(&shapes[_i], two_send);
}
END_TEST

START_TEST(a_wait_is_judged_by_all_its_pages)
{
    job_run(&shapes[_i], one_has_many);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("case");

    tcase_add_loop_test(tcase, two_that_receive_of_each_other_are_stuck, 0, N_SHAPES);
    tcase_add_loop_test(tcase, who_receives_of_anybody_is_stuck_if_all_are, 0,
                        N_SHAPES);
    tcase_add_loop_test(tcase, a_send_that_is_pending_does_not_release_anybody, 0,
                        N_SHAPES);
    tcase_add_loop_test(tcase, a_wait_is_judged_by_all_its_pages, 0, N_SHAPES);
    tcase_add_test(tcase, work_that_comes_while_it_looks_at_messages_is_not_lost);
    return run_tcase("case", tcase);
}
