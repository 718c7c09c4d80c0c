/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends that are taken back, wherever they lie: the ranks are contexts of this process,
 * and the receiver does nothing but where a test says so.
 */
#include <check.h>
#include <string.h>

#include "libbcs/api/message/wait.h"
#include "nic_threads/drivers/withdraw.h"
#include "nic_threads/machine/engine_lock.h"
#include "nic_threads/roles/guest.h"
#include "nic_threads/roles/roles.h"
#include "nic_threads/roles/turn.h"
#include "tests/engine/job.h"
#include "tests/unit/run_suite.h"

enum { SENDER, RECEIVER, N_RANKS };
enum { TAG = 7, N_LOOPS = 2000, N_MOST = 300000, KEPT = 4, N_HELD = 3 };

static struct job job;
static struct rank ranks[N_RANKS];
static struct nic_engine *engine; /* of whoever runs the engine, but for the ranks */
static uint8_t source[N_MOST], target[N_MOST];

static const struct job_shape shapes[] = {
    {.n_ranks = N_RANKS, .is_threaded = true, .is_direct = true},
    {.n_ranks = N_RANKS, .is_threaded = true, .node_ranks = 1, .is_direct = true},
    {.n_ranks = N_RANKS, .is_threaded = true, .node_ranks = 1, .defer = 3},
    {.n_ranks = N_RANKS, .is_threaded = true, .has_crew = true, .is_direct = true},
    {.n_ranks = N_RANKS, .is_threaded = true, .has_crew = true, .node_ranks = 1},
    {.n_ranks = N_RANKS, .is_threaded = true, .is_timed = true},
    {.n_ranks = N_RANKS, .is_threaded = true, .is_timed = true, .node_ranks = 1},
};
enum {
    N_SHAPES = sizeof(shapes) / sizeof(shapes[0]),
    FAR = 1,
    CREWS = 4,
    WIRED = N_SHAPES - 1
};

static const size_t lengths[] = {0, 8, 80, 300, 20000, N_MOST};
enum { N_LENGTHS = sizeof(lengths) / sizeof(lengths[0]), N_EAGER = N_LENGTHS - 1 };

static void setup(int shape, const char *limits)
{
    struct job_shape wanted = shapes[shape];

    wanted.limits = limits;
    job_open(&job, &wanted, ranks);
    engine = job_open_background(&job, false);
}

static void teardown(void)
{
    nic_engine_destroy(engine);
    job_close(&job, ranks);
}

static void send(size_t n_bytes, enum bcs_send_mode mode, struct bcs_request *request)
{
    struct bcs_message message =
        rank_message(&ranks[SENDER], RECEIVER, TAG, source, n_bytes);

    ck_assert_int_eq(bcs_send(ranks[SENDER].context, &message, mode, request), 0);
}

static bool take_back(struct bcs_request *request)
{
    bool is_taken_back = bcs_cancel_send(ranks[SENDER].context, request, RECEIVER);

    ck_assert(!is_taken_back || bcs_is_done(request));
    ck_assert_int_eq(request->result.error, is_taken_back ? BCS_E_CANCELLED : 0);
    return is_taken_back;
}

static void receive(struct bcs_request *request)
{
    struct bcs_message message =
        rank_message(&ranks[RECEIVER], SENDER, TAG, target, N_MOST);

    ck_assert_int_eq(bcs_recv(ranks[RECEIVER].context, &message, NULL, request), 0);
}

/** Open a slice, and begin a round of it that no node has taken part in yet. */
static void begin_round(void)
{
    struct nic_view *first = nic_engine_node(engine, 0);

    nic_strobe_sender_open_slice(first);
    for (uint32_t i = 0; i < N_RANKS; i++) {
        nic_strobe_receiver_step(nic_engine_node(engine, i));
    }
    while (first->node->phase.phase != NIC_PHASE_DEM) {
        ck_assert(nic_strobe_sender_step(first));
    }
}

/** Let both ranks go on until both are done. */
static void finish(struct bcs_request *sent, struct bcs_request *received)
{
    while (!bcs_is_done(sent) || !bcs_is_done(received)) {
        job_turn(engine);
        bcs_test(ranks[SENDER].context, sent, false);
        bcs_test(ranks[RECEIVER].context, received, false);
    }
}

/** What is sent now is the next message that comes. */
static void expect_next(size_t n_bytes)
{
    struct bcs_request sent, received;

    send(n_bytes, BCS_SEND_STANDARD, &sent);
    receive(&received);
    finish(&sent, &received);
    ck_assert_uint_eq(received.result.n_bytes, n_bytes);
}

START_TEST(a_send_is_taken_back_that_nobody_has_read)
{
    struct bcs_request request;

    setup(_i, NULL);
    for (int i = 0; i < 2 * N_LENGTHS; i++) {
        send(lengths[i / 2], i % 2 == 0 ? BCS_SEND_STANDARD : BCS_SEND_SYNCHRONOUS,
             &request);
        ck_assert(take_back(&request));
        ck_assert(!bcs_cancel_send(ranks[SENDER].context, &request, RECEIVER));
        expect_next(1);
    }
    teardown();
}
END_TEST

START_TEST(a_send_is_taken_back_from_its_queue)
{
    struct bcs_request first, request, last, received;

    setup(_i, NULL);
    for (int i = 0; i < 2 * N_LENGTHS; i++) {
        send(1, BCS_SEND_STANDARD, &first);
        send(lengths[i / 2], i % 2 == 0 ? BCS_SEND_STANDARD : BCS_SEND_SYNCHRONOUS,
             &request);
        send(2, BCS_SEND_STANDARD, &last);
        job_turn(engine);
        ck_assert(take_back(&request));
        receive(&received);
        finish(&first, &received);
        ck_assert_uint_eq(received.result.n_bytes, 1);
        receive(&received);
        finish(&last, &received);
        ck_assert_uint_eq(received.result.n_bytes, 2);
    }
    teardown();
}
END_TEST

/** Let the desks go over what was taken back; with crews or timed strobes
 *  nobody does when there is no
 *  room. */
static void let_go_over(int i)
{
    if (job.shape.has_crew || job.shape.is_timed || i % 3 == 0) {
        job_turn(engine);
    }
}

/* The receiver's node has not read it, or there is no room on the wire. */
START_TEST(a_send_on_its_way_to_another_node_is_taken_back)
{
    struct bcs_request requests[2], received;
    struct nic_view *there;

    setup(WIRED, "wire=1");
    there = nic_engine_view(engine, RECEIVER);
    for (int meant = 0; meant < 2; meant++) {
        send(1, BCS_SEND_STANDARD, &requests[0]);
        send(2, BCS_SEND_STANDARD, &requests[1]);
        begin_round();
        ck_assert(nic_engine_try_lock(there));
        nic_engine_turn_all(engine);
        ck_assert_uint_eq(nic_engine_view(engine, SENDER)->node->n_outbox, 1);
        nic_engine_unlock(there);
        ck_assert(take_back(&requests[meant]));
        receive(&received);
        finish(&requests[1 - meant], &received);
        ck_assert_uint_eq(received.result.n_bytes, (size_t)(2 - meant));
        expect_next(3);
    }
    teardown();
}
END_TEST

/* It is in the batch of its node, which waits for the other one before it goes on. */
START_TEST(a_send_of_a_round_that_is_under_way_is_taken_back)
{
    struct bcs_message message;
    struct bcs_request request;
    struct nic_view *there;

    setup(WIRED, NULL);
    there = nic_engine_view(engine, RECEIVER);
    message = rank_message(&ranks[SENDER], SENDER, TAG, source, 8);
    ck_assert_int_eq(
        bcs_send(ranks[SENDER].context, &message, BCS_SEND_STANDARD, &request), 0);
    begin_round();
    ck_assert(nic_engine_try_lock(there));
    nic_engine_turn_all(engine);
    ck_assert_uint_eq(nic_engine_view(engine, SENDER)->desk->batch.n_sends, 1);
    nic_engine_unlock(there);
    ck_assert(bcs_cancel_send(ranks[SENDER].context, &request, SENDER));
    job_turn(engine);
    ck_assert_uint_eq(
        nic_match_n_sends(nic_engine_view(engine, SENDER)->per_port.match), 0);
    teardown();
}
END_TEST

/* Its room is given back each time, and so is its entry. */
START_TEST(sends_are_taken_back_as_often_as_one_likes)
{
    struct bcs_request request;

    setup(_i, "least,blocks=1");
    for (int i = 0; i < N_LOOPS; i++) {
        send(lengths[i % N_EAGER], BCS_SEND_STANDARD, &request);
        /* else it would wait for its receive, as there is no block */
        ck_assert(bcs_is_done(&request) || job.shape.node_ranks > 0 ||
                  lengths[i % N_EAGER] > job.config.eager_limit_bytes);
        ck_assert(take_back(&request));
        let_go_over(i);
    }
    ck_assert_uint_eq(bcs_poster_n_available(&ranks[SENDER].context->poster),
                      job.config.descriptors);
    expect_next(1);
    teardown();
}
END_TEST

/* Where it has landed on the receiver's node there is room for the next one; there are
 * no blocks. */
START_TEST(the_room_of_what_has_landed_is_given_back)
{
    struct bcs_request request;

    setup(FAR, "blocks=0");
    for (int i = 0; i < N_LOOPS; i++) {
        send(300, BCS_SEND_STANDARD, &request);
        ck_assert(bcs_is_done(&request));
        if (i % 2 == 0) {
            job_turn(engine); /* it is in its queue; else it is not read */
        }
        ck_assert(take_back(&request));
        job_turn(engine);
    }
    teardown();
}
END_TEST

START_TEST(a_send_that_finds_no_room_is_taken_back)
{
    struct bcs_request kept[KEPT], held[N_HELD], request, received;

    setup(_i, "kept_sends=4");
    for (int i = 0; i < KEPT + N_HELD; i++) {
        send((size_t)i, BCS_SEND_STANDARD, i < KEPT ? &kept[i] : &held[i - KEPT]);
        job_turn(engine); /* a batch is taken whole */
    }
    ck_assert(take_back(&held[0]));
    ck_assert(take_back(&held[1]));
    for (int i = 0; i < N_LOOPS; i++) {
        if (i == N_HELD) {
            ck_assert(take_back(&held[2])); /* no more can be read before */
        }
        send(8, BCS_SEND_STANDARD, &request);
        ck_assert(take_back(&request));
        let_go_over(i);
    }
    for (int i = 0; i < KEPT; i++) {
        receive(&received);
        finish(&kept[i], &received);
        ck_assert_uint_eq(received.result.n_bytes, (size_t)i);
    }
    expect_next(1);
    teardown();
}
END_TEST

START_TEST(a_send_that_a_receive_has_is_not_taken_back)
{
    struct bcs_request request, received, later;

    setup(_i, NULL);
    for (int i = 0; i < N_LENGTHS; i++) {
        send(lengths[i], BCS_SEND_SYNCHRONOUS, &request);
        receive(&received);
        job_turn(engine);
        job_turn(engine);
        ck_assert(!take_back(&request));
        finish(&request, &received);
        ck_assert_uint_eq(received.result.n_bytes, lengths[i]);
        ck_assert_int_eq(request.result.error, 0);
        send(lengths[i], BCS_SEND_SYNCHRONOUS, &later);
        ck_assert_uint_eq(bcs_request_state(&later)->cell,
                          bcs_request_state(&request)->cell);
        ck_assert(!take_back(&request)); /* its cell is another one's */
        ck_assert(take_back(&later));
    }
    teardown();
}
END_TEST

/* Its process copies its part of it, also while it does something else. */
START_TEST(a_long_send_that_is_not_taken_back_goes_on)
{
    struct bcs_request request, received;
    bool is_done = false;

    setup(FAR, NULL);
    receive(&received);
    send(N_MOST, BCS_SEND_STANDARD, &request);
    nic_engine_turn_all(engine);
    ck_assert(!take_back(&request));
    for (int i = 0; !is_done && i < N_LOOPS; i++) {
        nic_engine_turn_all(engine);
        bcs_progress(ranks[SENDER].context);
        bcs_test(ranks[RECEIVER].context, &received, false);
        is_done = bcs_is_done(&request) && bcs_is_done(&received);
    }
    ck_assert(is_done);
    ck_assert_uint_eq(received.result.n_bytes, N_MOST);
    teardown();
}
END_TEST

/* Be it that what takes it has not been carried out. */
START_TEST(a_send_that_a_matched_probe_has_is_not_taken_back)
{
    struct bcs_request request, received;
    struct bcs_message in;
    struct bcs_result result;
    uint32_t item;

    setup(_i, NULL);
    in = rank_message(&ranks[RECEIVER], SENDER, TAG, target, N_MOST);
    for (int i = 0; i < N_LENGTHS; i++) {
        send(lengths[i], BCS_SEND_STANDARD, &request);
        job_turn(engine);
        ck_assert_int_eq(
            bcs_mprobe(ranks[RECEIVER].context, &in, false, &result, &item), 0);
        ck_assert_uint_eq(result.n_bytes, lengths[i]);
        ck_assert(!take_back(&request));
        job_turn(engine);
        ck_assert(!take_back(&request));
        ck_assert_int_eq(bcs_imrecv(ranks[RECEIVER].context, &in, item, &received), 0);
        finish(&request, &received);
        ck_assert_uint_eq(received.result.n_bytes, lengths[i]);
    }
    teardown();
}
END_TEST

/* The one that is meant, of many with the same tag. */
START_TEST(only_the_send_that_is_meant_is_taken_back)
{
    enum { N = 10 };
    struct bcs_request requests[N], received;

    setup(_i, NULL);
    for (int meant = 0; meant < N; meant++) {
        for (int i = 0; i < N; i++) {
            send((size_t)i, BCS_SEND_STANDARD, &requests[i]);
        }
        job_turn(engine);
        ck_assert(take_back(&requests[meant]));
        for (int i = 0; i < N; i++) {
            if (i != meant) {
                receive(&received);
                finish(&requests[i], &received);
                ck_assert_uint_eq(received.result.n_bytes, (size_t)i);
            }
        }
    }
    teardown();
}
END_TEST

START_TEST(a_desk_that_cannot_be_had_leaves_the_other_one_free)
{
    struct nic_recall recall = {.receiver = RECEIVER};
    struct nic_view *from, *to;

    setup(WIRED, NULL);
    from = nic_engine_view(engine, SENDER);
    to = nic_engine_view(engine, RECEIVER);
    ck_assert(nic_engine_try_lock(from));
    ck_assert_int_eq(nic_withdraw(ranks[SENDER].context->engine, &recall),
                     NIC_WITHDRAWN_NOT_YET);
    ck_assert(nic_engine_try_lock(to));
    nic_engine_unlock(to);
    nic_engine_unlock(from);
    teardown();
}
END_TEST

START_TEST(who_leaves_work_behind_rings_all_bells)
{
    struct nic_engine *own;
    uint64_t before[N_RANKS];

    setup(CREWS, NULL);
    own = ranks[SENDER].context->engine;
    for (uint32_t i = 0; i < N_RANKS; i++) {
        before[i] = nic_engine_node(own, i)->node->bell.count;
    }
    nic_guest_make_good(own);
    for (uint32_t i = 0; i < N_RANKS; i++) {
        ck_assert_uint_gt(nic_engine_node(own, i)->node->bell.count, before[i]);
    }
    teardown();
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("take_back");

    tcase_add_loop_test(tcase, a_send_is_taken_back_that_nobody_has_read, 0, N_SHAPES);
    tcase_add_loop_test(tcase, a_send_is_taken_back_from_its_queue, 0, N_SHAPES);
    tcase_add_test(tcase, a_send_on_its_way_to_another_node_is_taken_back);
    tcase_add_test(tcase, a_send_of_a_round_that_is_under_way_is_taken_back);
    tcase_add_loop_test(tcase, sends_are_taken_back_as_often_as_one_likes, 0, N_SHAPES);
    tcase_add_test(tcase, the_room_of_what_has_landed_is_given_back);
    tcase_add_loop_test(tcase, a_send_that_finds_no_room_is_taken_back, 0, N_SHAPES);
    tcase_add_loop_test(tcase, a_send_that_a_receive_has_is_not_taken_back, 0,
                        N_SHAPES);
    tcase_add_test(tcase, a_long_send_that_is_not_taken_back_goes_on);
    tcase_add_loop_test(tcase, a_send_that_a_matched_probe_has_is_not_taken_back, 0,
                        N_SHAPES);
    tcase_add_loop_test(tcase, only_the_send_that_is_meant_is_taken_back, 0, N_SHAPES);
    tcase_add_test(tcase, a_desk_that_cannot_be_had_leaves_the_other_one_free);
    tcase_add_test(tcase, who_leaves_work_behind_rings_all_bells);
    return run_tcase("take_back", tcase);
}
