/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matching within one slice: what processes post one after another and the engine finds
 * together. On one node it carries out at once what it can
 * (nic_threads/roles/at_once.h), between nodes all goes by the batch: each test runs
 * both ways, with the same result. The ranks are contexts of this process, which turns
 * the engine itself.
 */
#include <check.h>

#include "libbcs/api/message/completion.h"
#include "libbcs/api/message/p2p.h"
#include "libbcs/api/message/post.h"
#include "nic_threads/roles/turn.h"
#include "tests/engine/job.h"
#include "tests/unit/run_suite.h"

enum { N_RANKS = 2 };

static struct job job;
static struct rank ranks[N_RANKS];

/** Begin a test; node_ranks as in struct job_shape. */
static void setup(uint32_t node_ranks)
{
    const struct job_shape shape = {.n_ranks = N_RANKS,
                                    .node_ranks = node_ranks,
                                    .is_direct = true,
                                    .is_threaded = true};

    job_open(&job, &shape, ranks);
}

static void teardown(void)
{
    ck_assert_uint_eq(atomic_load(&job.shared->n_errors), 0);
    job_close(&job, ranks);
}

static void turn(void)
{
    nic_engine_turn_all(ranks[0].context->engine);
}

static void receive_from(int32_t source, int32_t tag, int *data,
                         struct bcs_request *request)
{
    struct bcs_message message =
        rank_message(&ranks[0], source, tag, data, sizeof(*data));

    ck_assert_int_eq(bcs_recv(ranks[0].context, &message, NULL, request), 0);
}

static void receive(int32_t tag, int *data, struct bcs_request *request)
{
    receive_from(1, tag, data, request);
}

/** Turn the engine and take what has come for a receive, which must be done. */
static void expect(struct bcs_request *request, const int *data, int expected)
{
    turn();
    ck_assert(bcs_look(ranks[0].context, request));
    ck_assert_int_eq(request->result.error, 0);
    ck_assert_int_eq(*data, expected);
}

static void send_to_first(int32_t tag, int data)
{
    struct bcs_message message = rank_message(&ranks[1], 0, tag, &data, sizeof(data));

    ck_assert_int_eq(bcs_send(ranks[1].context, &message, BCS_SEND_STANDARD, NULL), 0);
}

START_TEST(a_late_cancellation_leaves_the_next_receive_with_the_cell)
{
    struct bcs_request first, second;
    int data[2] = {0, 0};

    setup((uint32_t)_i);
    receive(1, &data[0], &first);
    send_to_first(1, 11);
    turn();
    bcs_cancel(ranks[0].context, &first);
    ck_assert_int_eq(bcs_test(ranks[0].context, &first, false), 0);
    receive(2, &data[1], &second);
    ck_assert_uint_eq(bcs_request_state(&first)->cell,
                      bcs_request_state(&second)->cell);
    turn();
    send_to_first(2, 22);
    turn();
    ck_assert_int_eq(bcs_test(ranks[0].context, &second, false), 0);
    ck_assert_int_eq(data[0], 11);
    ck_assert_int_eq(data[1], 22);
    teardown();
}
END_TEST

START_TEST(a_receive_is_taken_back_in_the_slice_in_which_it_was_posted)
{
    struct bcs_request first, second;
    int data[2] = {0, 0};

    setup((uint32_t)_i);
    receive(1, &data[0], &first);
    bcs_cancel(ranks[0].context, &first);
    send_to_first(1, 11);
    turn();
    ck_assert_int_eq(bcs_test(ranks[0].context, &first, false), BCS_E_CANCELLED);
    receive(1, &data[1], &second);
    turn();
    ck_assert_int_eq(bcs_test(ranks[0].context, &second, false), 0);
    ck_assert_int_eq(data[0], 0);
    ck_assert_int_eq(data[1], 11);
    teardown();
}
END_TEST

START_TEST(messages_of_one_source_and_tag_go_to_receives_in_their_order)
{
    struct bcs_request requests[3];
    int data[3] = {0, 0, 0};

    setup((uint32_t)_i);
    for (int i = 0; i < 3; i++) {
        receive(1, &data[i], &requests[i]);
    }
    for (int i = 0; i < 3; i++) {
        send_to_first(1, 11 + i);
    }
    for (int i = 0; i < 3; i++) {
        expect(&requests[i], &data[i], 11 + i);
    }
    teardown();
}
END_TEST

START_TEST(a_message_passes_by_receives_of_other_tags)
{
    struct bcs_request first, second;
    int data[2] = {0, 0};

    setup((uint32_t)_i);
    receive(1, &data[0], &first);
    receive(2, &data[1], &second);
    send_to_first(2, 22);
    expect(&second, &data[1], 22);
    ck_assert(!bcs_look(ranks[0].context, &first));
    send_to_first(1, 11);
    expect(&first, &data[0], 11);
    teardown();
}
END_TEST

START_TEST(the_receive_posted_first_gets_the_message_named_or_not)
{
    const int32_t sources[2] = {BCS_ANY_SOURCE, 1};

    for (int named_first = 0; named_first < 2; named_first++) {
        struct bcs_request first, second;
        int data[2] = {0, 0};

        setup((uint32_t)_i);
        receive_from(sources[named_first], 1, &data[0], &first);
        receive_from(sources[!named_first], 1, &data[1], &second);
        send_to_first(1, 11);
        expect(&first, &data[0], 11);
        ck_assert(!bcs_look(ranks[0].context, &second));
        send_to_first(1, 12);
        expect(&second, &data[1], 12);
        teardown();
    }
}
END_TEST

START_TEST(a_message_that_is_kept_goes_before_those_behind_it)
{
    struct bcs_request first, second;
    int data[2] = {0, 0};

    setup((uint32_t)_i);
    send_to_first(1, 11);
    turn();
    receive(1, &data[0], &first);
    receive(1, &data[1], &second);
    send_to_first(1, 12);
    expect(&first, &data[0], 11);
    expect(&second, &data[1], 12);
    teardown();
}
END_TEST

START_TEST(a_kept_message_goes_to_the_receive_that_names_its_tag)
{
    struct bcs_request first, second, third;
    int data[3] = {0, 0, 0};

    setup((uint32_t)_i);
    for (int i = 0; i < 3; i++) {
        send_to_first(1 + i % 2, 11 + i);
    }
    turn();
    receive(2, &data[0], &first);
    receive(3, &data[1], &second);
    receive_from(BCS_ANY_SOURCE, 1, &data[2], &third);
    expect(&first, &data[0], 12);
    ck_assert(!bcs_look(ranks[0].context, &second));
    expect(&third, &data[2], 11);
    receive(1, &data[2], &third);
    expect(&third, &data[2], 13);
    send_to_first(3, 14);
    expect(&second, &data[1], 14);
    ck_assert_uint_eq(nic_engine_own(ranks[0].context->engine)->desk->n_sends_kept, 0);
    teardown();
}
END_TEST

/* On one node. A batch may hold some more. */
START_TEST(a_desk_keeps_as_many_messages_as_it_may)
{
    struct nic_desk *desk;
    struct bcs_request requests[2];
    int data[2] = {0, 0};
    uint32_t limit;

    setup(0);
    desk = nic_engine_own(ranks[0].context->engine)->desk;
    limit = nic_send_limit(nic_engine_own(ranks[0].context->engine));
    desk->n_sends_kept += limit - 1;
    send_to_first(1, 11);
    send_to_first(1, 12);
    turn();
    ck_assert_uint_eq(desk->n_sends_kept, limit);
    receive(1, &data[0], &requests[0]);
    receive(1, &data[1], &requests[1]);
    expect(&requests[0], &data[0], 11);
    expect(&requests[1], &data[1], 12);
    desk->n_sends_kept -= limit - 1;
    ck_assert_uint_eq(desk->n_sends_kept, 0);
    teardown();
}
END_TEST

START_TEST(a_kept_synchronous_send_learns_of_the_receive_that_takes_it)
{
    struct bcs_request receiving, sending;
    int data = 0, sent = 11;
    struct bcs_message message;

    setup((uint32_t)_i);
    message = rank_message(&ranks[1], 0, 1, &sent, sizeof(sent));
    ck_assert_int_eq(
        bcs_send(ranks[1].context, &message, BCS_SEND_SYNCHRONOUS, &sending), 0);
    turn();
    receive(1, &data, &receiving);
    expect(&receiving, &data, 11);
    turn();
    ck_assert(bcs_look(ranks[1].context, &sending));
    teardown();
}
END_TEST

START_TEST(a_message_to_oneself_goes_before_those_found_with_it)
{
    struct bcs_request first, second;
    struct bcs_message message;
    int data[2] = {0, 0}, own = 10;

    setup((uint32_t)_i);
    receive_from(BCS_ANY_SOURCE, 1, &data[0], &first);
    receive_from(BCS_ANY_SOURCE, 1, &data[1], &second);
    message = rank_message(&ranks[0], 0, 1, &own, sizeof(own));
    ck_assert_int_eq(bcs_send(ranks[0].context, &message, BCS_SEND_STANDARD, NULL), 0);
    send_to_first(1, 11);
    expect(&first, &data[0], 10);
    expect(&second, &data[1], 11);
    teardown();
}
END_TEST

/** Post a probe that waits. @return its cell */
static const struct bcs_cell *probe(int32_t tag)
{
    struct bcs_context *context = ranks[0].context;
    struct bcs_descriptor *entry =
        bcs_post_begin(context, bcs_post_own(context), BCS_PROBE);
    uint32_t cell = bcs_post_cell(context);

    entry->context_id = ranks[0].world.context_id;
    entry->source = 1;
    entry->tag = tag;
    entry->cell = cell;
    bcs_ring_publish(bcs_post_own(context), entry);
    return bcs_poster_cell_at(&context->poster, cell);
}

START_TEST(a_probe_that_waits_leaves_the_message_to_the_receive)
{
    const struct bcs_cell *found;
    struct bcs_request request;
    int data = 0;

    setup((uint32_t)_i);
    found = probe(1);
    turn();
    send_to_first(1, 11);
    turn();
    ck_assert_int_eq(bcs_cell_state(found), BCS_CELL_DONE);
    receive(1, &data, &request);
    expect(&request, &data, 11);
    teardown();
}
END_TEST

START_TEST(a_message_that_was_claimed_before_is_received)
{
    struct bcs_result result;
    struct bcs_message message;
    struct bcs_request request;
    uint32_t item;
    int data = 0;

    setup((uint32_t)_i);
    message = rank_message(&ranks[0], 1, 1, &data, sizeof(data));
    send_to_first(1, 11);
    turn();
    ck_assert_int_eq(bcs_mprobe(ranks[0].context, &message, false, &result, &item), 0);
    turn();
    ck_assert_int_eq(bcs_imrecv(ranks[0].context, &message, item, &request), 0);
    expect(&request, &data, 11);
    teardown();
}
END_TEST

START_TEST(a_synchronous_send_learns_of_the_receive_that_it_found)
{
    struct bcs_request receiving, sending;
    int data = 0, sent = 11;
    struct bcs_message message;

    setup((uint32_t)_i);
    message = rank_message(&ranks[1], 0, 1, &sent, sizeof(sent));
    receive(1, &data, &receiving);
    turn();
    ck_assert_int_eq(
        bcs_send(ranks[1].context, &message, BCS_SEND_SYNCHRONOUS, &sending), 0);
    ck_assert(!bcs_look(ranks[1].context, &sending));
    expect(&receiving, &data, 11);
    turn();
    ck_assert(bcs_look(ranks[1].context, &sending));
    teardown();
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("buffer_receiver");

    tcase_add_loop_test(
        tcase, a_late_cancellation_leaves_the_next_receive_with_the_cell, 0, 2);
    tcase_add_loop_test(
        tcase, a_receive_is_taken_back_in_the_slice_in_which_it_was_posted, 0, 2);
    tcase_add_loop_test(
        tcase, messages_of_one_source_and_tag_go_to_receives_in_their_order, 0, 2);
    tcase_add_loop_test(tcase, a_message_passes_by_receives_of_other_tags, 0, 2);
    tcase_add_loop_test(tcase, the_receive_posted_first_gets_the_message_named_or_not,
                        0, 2);
    tcase_add_loop_test(tcase, a_message_that_is_kept_goes_before_those_behind_it, 0,
                        2);
    tcase_add_loop_test(tcase, a_kept_message_goes_to_the_receive_that_names_its_tag, 0,
                        2);
    tcase_add_test(tcase, a_desk_keeps_as_many_messages_as_it_may);
    tcase_add_loop_test(
        tcase, a_kept_synchronous_send_learns_of_the_receive_that_takes_it, 0, 2);
    tcase_add_loop_test(tcase, a_message_to_oneself_goes_before_those_found_with_it, 0,
                        2);
    tcase_add_loop_test(tcase, a_probe_that_waits_leaves_the_message_to_the_receive, 0,
                        2);
    tcase_add_loop_test(tcase, a_message_that_was_claimed_before_is_received, 0, 2);
    tcase_add_loop_test(tcase, a_synchronous_send_learns_of_the_receive_that_it_found,
                        0, 2);
    return run_tcase("buffer_receiver", tcase);
}
