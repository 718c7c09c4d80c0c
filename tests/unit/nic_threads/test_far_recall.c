/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Questions to another node for sends that their senders want back, and the answers.
 * The ranks are contexts of this process, and each is a node; a question goes from one
 * to the other as between machines. The receiver does nothing but where a test says so.
 */
#include <check.h>

#include "nic_threads/drivers/waiting.h"
#include "nic_threads/machine/engine_lock.h"
#include "nic_threads/node/views.h"
#include "nic_threads/roles/far_recall.h"
#include "nic_threads/roles/turn.h"
#include "tests/engine/job.h"
#include "tests/unit/run_suite.h"

enum { SENDER, RECEIVER, OTHER, N_RANKS };
enum { TAG = 7, N_MOST = 300000, N_LANDED = 300, N_LOOPS = 500 };

static struct job job;
static struct rank ranks[N_RANKS];
static struct nic_engine
    *server; /* of a thread of the receiver's node, and of others */
static uint8_t source[N_MOST];

static const struct job_shape shapes[] = {
    {.n_ranks = N_RANKS, .is_threaded = true, .node_ranks = 1, .is_direct = true},
    {.n_ranks = N_RANKS, .is_threaded = true, .node_ranks = 1, .defer = 3},
    {.n_ranks = N_RANKS, .is_threaded = true, .has_crew = true, .node_ranks = 1},
    {.n_ranks = N_RANKS, .is_threaded = true, .is_timed = true, .node_ranks = 1},
};
enum { N_SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static const size_t lengths[] = {0, 8, 80, N_LANDED, 20000, N_MOST};
enum { N_LENGTHS = sizeof(lengths) / sizeof(lengths[0]) };

static void setup(int shape, const char *limits)
{
    struct job_shape wanted = shapes[shape];

    wanted.limits = limits;
    job_open(&job, &wanted, ranks);
    server = job_open_background(&job, false);
}

static void teardown(void)
{
    nic_engine_destroy(server);
    job_close(&job, ranks);
}

/** Send, and let it leave the sender's node. @return what asks for it back */
static struct nic_recall send(uint32_t from, size_t n_bytes, enum bcs_send_mode mode,
                              struct bcs_request *request)
{
    struct bcs_message message =
        rank_message(&ranks[from], RECEIVER, TAG, source, n_bytes);

    ck_assert_int_eq(bcs_send(ranks[from].context, &message, mode, request), 0);
    if (job.shape.has_crew || job.shape.is_timed) {
        job_turn(server);
    }
    return (struct nic_recall){
        .sender = from, .receiver = RECEIVER, .cell = bcs_request_state(request)->cell};
}

static enum nic_withdrawn ask(struct nic_recall *recall)
{
    return nic_far_recall(ranks[recall->sender].context->engine, recall);
}

static bool serve(void)
{
    return nic_far_recall_serve(nic_engine_node(server, RECEIVER));
}

/** Ask, and have it answered. */
static enum nic_withdrawn take_back(struct nic_recall *recall)
{
    ck_assert_int_eq(ask(recall), NIC_WITHDRAWN_NOT_YET);
    ck_assert_uint_ne(recall->number, 0);
    ck_assert_int_eq(ask(recall), NIC_WITHDRAWN_NOT_YET);
    ck_assert(serve());
    ck_assert(serve()); /* there is no question any more */
    return ask(recall);
}

/** A short standard send. */
static struct nic_recall send_short(uint32_t from)
{
    struct bcs_request request;

    return send(from, 8, BCS_SEND_STANDARD, &request);
}

static uint32_t n_kept(void)
{
    const struct nic_view *view = nic_engine_view(server, RECEIVER);

    job_turn(server);
    return nic_match_n_sends(&view->per_port.match[0]);
}

START_TEST(a_send_is_taken_back_wherever_it_lies)
{
    struct bcs_request requests[2 * N_LENGTHS];

    setup(_i, NULL);
    for (int i = 0; i < 2 * N_LENGTHS; i++) {
        struct nic_recall recall = send(
            SENDER, lengths[i / 2],
            i < N_LENGTHS ? BCS_SEND_STANDARD : BCS_SEND_SYNCHRONOUS, &requests[i]);

        if (i % 2 == 0) {
            job_turn(server); /* it is in its queue; else it is not read */
        }
        ck_assert_int_eq(take_back(&recall), NIC_WITHDRAWN);
        ck_assert_uint_eq(n_kept(), 0);
    }
    teardown();
}
END_TEST

START_TEST(a_send_that_is_not_there_is_too_late)
{
    struct nic_recall recall;

    setup(_i, NULL);
    recall = send_short(SENDER);
    ck_assert_int_eq(take_back(&recall), NIC_WITHDRAWN);
    recall.number = 0;
    ck_assert_int_eq(take_back(&recall), NIC_WITHDRAWN_TOO_LATE);
    teardown();
}
END_TEST

/* No data land at the receiver's node. */
START_TEST(its_block_is_told_with_the_answer)
{
    struct bcs_request request;
    struct nic_recall recall;

    setup(_i, "landing=128");
    recall = send(SENDER, N_LANDED, BCS_SEND_STANDARD, &request);
    ck_assert(bcs_is_done(&request));
    ck_assert_int_eq(take_back(&recall), NIC_WITHDRAWN);
    ck_assert_uint_ne(recall.block_gva, 0);
    recall = send_short(SENDER);
    ck_assert_int_eq(take_back(&recall), NIC_WITHDRAWN);
    ck_assert_uint_eq(recall.block_gva, 0);
    teardown();
}
END_TEST

START_TEST(one_process_asks_at_a_time)
{
    struct nic_recall first, second;

    setup(_i, NULL);
    first = send_short(SENDER);
    second = send_short(OTHER);
    ck_assert_int_eq(ask(&first), NIC_WITHDRAWN_NOT_YET);
    ck_assert_int_eq(ask(&second), NIC_WITHDRAWN_NOT_YET);
    ck_assert_uint_eq(second.number, 0);
    ck_assert(serve());
    ck_assert_int_eq(take_back(&second), NIC_WITHDRAWN);
    ck_assert_int_eq(ask(&first), NIC_WITHDRAWN);
    ck_assert_uint_eq(n_kept(), 0);
    teardown();
}
END_TEST

/* Its threads would find each other's answers. */
START_TEST(a_process_asks_one_question_at_a_time)
{
    struct nic_recall first, second;

    setup(_i, NULL);
    first = send_short(SENDER);
    second = (struct nic_recall){.sender = SENDER, .receiver = OTHER};
    ck_assert_int_eq(ask(&first), NIC_WITHDRAWN_NOT_YET);
    ck_assert_int_eq(ask(&second), NIC_WITHDRAWN_NOT_YET);
    ck_assert_uint_eq(second.number, 0);
    ck_assert(serve());
    ck_assert_int_eq(ask(&first), NIC_WITHDRAWN);
    ck_assert_int_eq(ask(&second), NIC_WITHDRAWN_NOT_YET);
    ck_assert_uint_ne(second.number, 0);
    teardown();
}
END_TEST

/* Whoever has asked has left its wait without an end. */
START_TEST(an_answer_that_nobody_waits_for_is_none_to_the_next_question)
{
    struct nic_recall first, second;

    setup(_i, NULL);
    first = send_short(SENDER);
    second = send_short(SENDER);
    ck_assert_int_eq(ask(&first), NIC_WITHDRAWN_NOT_YET);
    nic_waiter_abandon(ranks[SENDER].context->engine);
    ck_assert_int_eq(ask(&second), NIC_WITHDRAWN_NOT_YET);
    ck_assert_uint_eq(second.number, 0); /* the box is not empty */
    ck_assert(serve());
    ck_assert_int_eq(take_back(&second), NIC_WITHDRAWN);
    ck_assert_uint_eq(n_kept(), 0);
    teardown();
}
END_TEST

START_TEST(a_question_waits_for_who_is_at_the_desk_or_looks_into_the_queue)
{
    struct nic_view *view;
    struct nic_recall recall;

    setup(_i, NULL);
    view = nic_engine_view(server, RECEIVER);
    recall = send_short(SENDER);
    ck_assert(serve()); /* there is no question */
    ck_assert_int_eq(ask(&recall), NIC_WITHDRAWN_NOT_YET);
    ck_assert(nic_engine_try_lock(view));
    ck_assert(!serve());
    nic_engine_unlock(view);
    ck_assert(nic_match_hold(view->per_port.match));
    ck_assert(!serve());
    ck_assert(!serve()); /* the desk was unlocked */
    ck_assert_int_eq(ask(&recall), NIC_WITHDRAWN_NOT_YET);
    nic_match_let_go(view->per_port.match);
    ck_assert(serve());
    ck_assert_int_eq(ask(&recall), NIC_WITHDRAWN);
    teardown();
}
END_TEST

/* So the thread that answers is woken. */
START_TEST(a_question_rings_the_bell)
{
    struct nic_recall recall;
    uint64_t n_rings;

    setup(_i, NULL);
    recall = send_short(SENDER);
    n_rings = nic_engine_n_rings(nic_engine_node(server, RECEIVER));
    ck_assert_int_eq(ask(&recall), NIC_WITHDRAWN_NOT_YET);
    ck_assert_uint_gt(nic_engine_n_rings(nic_engine_node(server, RECEIVER)), n_rings);
    teardown();
}
END_TEST

/* What stood behind a send that found no room is taken when that is taken back. */
START_TEST(what_was_held_back_goes_on)
{
    enum { N_SENDS = 2 };
    struct nic_recall recalls[N_SENDS];

    setup(_i, "kept_sends=1");
    for (int i = 0; i < N_SENDS; i++) {
        recalls[i] = send_short(SENDER);
        job_turn(server); /* a batch is taken whole */
    }
    for (int i = 0; i < N_SENDS; i++) {
        ck_assert_int_eq(take_back(&recalls[i]), NIC_WITHDRAWN);
        if (!job.shape.has_crew && !job.shape.is_timed) { /* who do it by themselves */
            const struct nic_view *view = nic_engine_view(server, RECEIVER);

            ck_assert_uint_eq(nic_match_n_sends(view->per_port.match), i < N_SENDS - 1);
        }
        ck_assert_uint_eq(n_kept(), i < N_SENDS - 1);
    }
    teardown();
}
END_TEST

/* There is room for the answer, and for what is sent, each time. */
START_TEST(questions_may_be_asked_as_often_as_one_likes)
{
    setup(_i, "least");
    for (int i = 0; i < N_LOOPS; i++) {
        struct nic_recall recall = send_short(SENDER);

        ck_assert_int_eq(take_back(&recall), NIC_WITHDRAWN);
        job_turn(server);
    }
    ck_assert_uint_eq(n_kept(), 0);
    teardown();
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("far_recall");

    tcase_add_loop_test(tcase, a_send_is_taken_back_wherever_it_lies, 0, N_SHAPES);
    tcase_add_loop_test(tcase, a_send_that_is_not_there_is_too_late, 0, N_SHAPES);
    tcase_add_loop_test(tcase, its_block_is_told_with_the_answer, 0, N_SHAPES);
    tcase_add_loop_test(tcase, one_process_asks_at_a_time, 0, N_SHAPES);
    tcase_add_loop_test(tcase, a_process_asks_one_question_at_a_time, 0, N_SHAPES);
    tcase_add_loop_test(tcase,
                        an_answer_that_nobody_waits_for_is_none_to_the_next_question, 0,
                        N_SHAPES);
    tcase_add_loop_test(tcase,
                        a_question_waits_for_who_is_at_the_desk_or_looks_into_the_queue,
                        0, N_SHAPES);
    tcase_add_loop_test(tcase, a_question_rings_the_bell, 0, N_SHAPES);
    tcase_add_loop_test(tcase, what_was_held_back_goes_on, 0, N_SHAPES);
    tcase_add_loop_test(tcase, questions_may_be_asked_as_often_as_one_likes, 0,
                        N_SHAPES);
    return run_tcase("far_recall", tcase);
}
