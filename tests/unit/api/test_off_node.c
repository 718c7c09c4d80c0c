/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between nodes where each process has a desk of its own: they need no round
 * of the nodes; the data of short ones go with them as long as there is room at the
 * receiver, and lie at the sender's node else; and what the desks tell each other finds
 * its way however small the rings.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/api/context/request_state.h"
#include "libbcs/fabric/base/layout_build.h"
#include "libbcs/fabric/ring/landing.h"
#include "nic_threads/machine/link.h"
#include "nic_threads/roles/collection.h"
#include "nic_threads/roles/roles.h"
#include "nic_threads/roles/turn.h"
#include "tests/engine/job.h"
#include "tests/unit/run_suite.h"

enum {
    SENDER,
    RECEIVER,
    N_RANKS,
    TAG = 5,
    N_MESSAGES = 40,
    N_BYTES = 1000,
    N_LANDING_BYTES = 4096,
};

static struct job job;
static struct rank ranks[N_RANKS];
static uint8_t sent[N_MESSAGES][N_BYTES], got[N_BYTES];

static void open_job(const char *limits)
{
    const struct job_shape shape = {
        .n_ranks = N_RANKS,
        .node_ranks = 1,
        .is_direct = true,
        .is_threaded = true,
        .limits = limits,
    };

    job_open(&job, &shape, ranks);
    for (int i = 0; i < N_MESSAGES; i++) {
        memset(sent[i], 1 + i, N_BYTES);
    }
}

static void close_job(void)
{
    job_close(&job, ranks);
}

static void send(int i, size_t n_bytes, enum bcs_send_mode mode,
                 struct bcs_request *request)
{
    struct bcs_message message =
        rank_message(&ranks[SENDER], RECEIVER, TAG, sent[i], n_bytes);

    ck_assert_int_eq(bcs_send(ranks[SENDER].context, &message, mode, request), 0);
}

/** Receive the next message by the receiver's own calls. */
static void receive(int i, size_t n_bytes)
{
    struct bcs_message message =
        rank_message(&ranks[RECEIVER], SENDER, TAG, got, n_bytes);

    memset(got, 0, sizeof(got));
    ck_assert_int_eq(bcs_recv(ranks[RECEIVER].context, &message, NULL, NULL), 0);
    ck_assert_mem_eq(got, sent[i], n_bytes);
}

/** Rounds that have begun. */
static uint64_t n_rounds(void)
{
    return nic_engine_own(ranks[SENDER].context->engine)->node->round;
}

/** The send that lies first in the link to the receiver, or NULL. */
static const struct bcs_descriptor *first_in_link(void)
{
    const struct nic_view *view =
        nic_engine_view(ranks[RECEIVER].context->engine, RECEIVER);
    struct bcs_ring *ring = nic_view_link(view, SENDER);

    return bcs_ring_put_entry(ring, view->link_mask, bcs_ring_head(ring));
}

START_TEST(a_message_needs_no_round)
{
    static const size_t lengths[] = {0,
                                     1,
                                     BCS_PUT_SHORT_BYTES,
                                     BCS_PUT_SHORT_BYTES + 1,
                                     BCS_PUT_INLINE_BYTES,
                                     BCS_PUT_INLINE_BYTES + 1,
                                     BCS_INLINE_BYTES,
                                     N_BYTES};
    struct bcs_request request;

    open_job("usual");
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        send((int)i, lengths[i], BCS_SEND_STANDARD, &request);
        ck_assert_int_eq(bcs_test(ranks[SENDER].context, &request, false), 0);
        receive((int)i, lengths[i]);
    }
    ck_assert_uint_eq(n_rounds(), 0);
    close_job();
}
END_TEST

START_TEST(data_go_with_their_send_while_there_is_room)
{
    struct bcs_request request;
    int n = 0;

    open_job("landing=4096");
    send(n++, N_BYTES, BCS_SEND_STANDARD, &request);
    ck_assert((first_in_link()->flags & BCS_LANDED) != 0);
    for (; n < N_MESSAGES; n++) { /* no room any more */
        send(n, N_BYTES, BCS_SEND_STANDARD, &request);
        ck_assert_int_eq(bcs_test(ranks[SENDER].context, &request, false), 0);
    }
    for (int i = 0; i < n; i++) { /* the sender computes meanwhile */
        receive(i, N_BYTES);
    }
    ck_assert_ptr_null(first_in_link());
    /* There is room again, time and again; the sender learns of it by the next
     * message. */
    for (int i = 0; i < n; i++) {
        send(i, N_BYTES, BCS_SEND_STANDARD, &request);
        ck_assert(i == 0 || (first_in_link()->flags & BCS_LANDED) != 0);
        receive(i, N_BYTES);
    }
    ck_assert_uint_eq(n_rounds(), 0);
    close_job();
}
END_TEST

/** Bytes of a message whose block takes so many cache lines. */
static size_t bytes_of(uint32_t n_lines)
{
    return n_lines * BCS_CACHE_LINE - offsetof(struct bcs_block, data);
}

/** The last send that the sender has put into the link. */
static const struct bcs_descriptor *last_in_link(void)
{
    const struct nic_view *view =
        nic_engine_view(ranks[RECEIVER].context->engine, RECEIVER);
    struct bcs_ring *ring = nic_view_link(view, SENDER);
    const struct bcs_descriptor *entry, *last = NULL;

    for (uint32_t at = bcs_ring_head(ring);
         (entry = bcs_ring_put_entry(ring, view->link_mask, at)) != NULL; at++) {
        last = entry;
    }
    return last;
}

/** Send a message whose block takes so many cache lines. @return whether its data go
 *  with it */
static bool lands(int i, uint32_t n_lines)
{
    struct bcs_request request;

    send(i, bytes_of(n_lines), BCS_SEND_STANDARD, &request);
    return (last_in_link()->flags & BCS_LANDED) != 0;
}

START_TEST(no_block_is_put_over_one_that_is_to_be_read)
{
    enum { N_FREE = 17, N_LINES = N_LANDING_BYTES / BCS_CACHE_LINE };
    struct bcs_request request;
    uint32_t n_put = N_FREE;
    int n = 0;

    open_job("landing=4096");
    for (; n < 2; n++) { /* an odd part of the ring is free again, */
        ck_assert(lands(n, n == 0 ? 9 : 8));
        receive(n, bytes_of(n == 0 ? 9 : 8));
    }
    send(n, 1, BCS_SEND_STANDARD, &request); /* of which the sender learns, */
    receive(n++, 1);
    for (; n_put < N_LINES - 3; n_put += 2) { /* up to the end of the ring */
        ck_assert(lands(n++, 2));
    }
    ck_assert(lands(n++, 3));
    for (n_put += 3; n_put < N_LINES + N_FREE - 1; n_put += 2) {
        ck_assert(lands(n++, 2));
    }
    ck_assert_uint_eq(n_put, N_LINES + N_FREE - 1); /* and one line is left */
    ck_assert(!lands(n, 2));
    close_job();
}
END_TEST

START_TEST(a_long_message_says_whose_sender_waits_and_how_it_lies)
{
    enum { N_LONG = 100000 };
    static uint8_t data[2 * N_LONG];
    struct bcs_layout_list bodies = {0}, element = {0};
    struct bcs_message message =
        rank_message(&ranks[SENDER], RECEIVER, TAG, data, N_LONG);
    struct bcs_layout *layout;
    struct bcs_request request;

    bcs_layout_add_block(&element, 0, 1);
    layout = bcs_layout_make(&bodies, &element, 2); /* each second byte */
    bcs_layout_list_fini(&element);
    ck_assert_ptr_nonnull(layout);
    for (unsigned int i = 0; i < 4; i++) {
        open_job("usual");
        message.group = &ranks[SENDER].world;
        message.will_wait = i / 2 != 0;
        bcs_message_lay_out(&message, i % 2 != 0 ? layout : NULL);
        ck_assert_int_eq(
            bcs_send(ranks[SENDER].context, &message, BCS_SEND_STANDARD, &request), 0);
        ck_assert_uint_eq(last_in_link()->flags & (BCS_LAID_OUT | BCS_WAITING),
                          (i % 2 != 0 ? BCS_LAID_OUT : 0) |
                              (i / 2 != 0 ? BCS_WAITING : 0));
        close_job();
    }
    free(layout);
}
END_TEST

START_TEST(a_stamp_takes_no_room_of_data)
{
    struct bcs_request request;

    open_job("usual");
    ranks[SENDER].context->stamps.is_on = true;
    ranks[SENDER].context->n_inline_off_node = 0; /* as bcs_attach has it then */
    for (int i = 0; i <= BCS_INLINE_BYTES; i++) {
        send(i % N_MESSAGES, (size_t)i, BCS_SEND_STANDARD, &request);
        ck_assert((last_in_link()->flags & BCS_STAMPED) != 0);
        ck_assert(((last_in_link()->flags & BCS_DATA_INLINE) != 0) ==
                  (i <= BCS_STAMPED_BYTES));
        receive(i % N_MESSAGES, (size_t)i);
    }
    close_job();
}
END_TEST

START_TEST(data_that_nobody_has_received_stay)
{
    struct bcs_request request;

    open_job("landing=4096,link=2");
    for (int i = 0; i < N_MESSAGES; i++) {
        send(i, N_BYTES, BCS_SEND_STANDARD, &request);
        nic_engine_turn(ranks[RECEIVER].context->engine);
        ck_assert_ptr_null(first_in_link()); /* the desk keeps it */
    }
    for (int i = 0; i < N_MESSAGES; i++) {
        receive(i, N_BYTES);
    }
    close_job();
}
END_TEST

/** Send all so that each waits for its receive, and receive all, in one slice, which
 *  has room to say so of two. @return the receiver's desk */
static struct nic_view *
match_more_than_can_be_told(struct bcs_request requests[N_MESSAGES],
                            struct bcs_request receives[N_MESSAGES])
{
    struct nic_view *receiver;

    open_job("link=2");
    receiver = nic_engine_own(ranks[RECEIVER].context->engine);
    for (int i = 0; i < N_MESSAGES; i++) {
        send(i, 1, BCS_SEND_SYNCHRONOUS, &requests[i]);
    }
    for (int i = 0; i < N_MESSAGES; i++) {
        struct bcs_message message =
            rank_message(&ranks[RECEIVER], SENDER, TAG, &got[i], 1);

        ck_assert_int_eq(
            bcs_recv(ranks[RECEIVER].context, &message, NULL, &receives[i]), 0);
    }
    nic_strobe_receiver_run_alone(receiver);
    ck_assert_uint_gt(receiver->desk->n_outbox, 0);
    return receiver;
}

START_TEST(what_finds_no_room_in_a_link_of_desks_comes_later)
{
    struct bcs_request requests[N_MESSAGES], receives[N_MESSAGES];
    const struct nic_view *receiver = match_more_than_can_be_told(requests, receives);

    for (int i = 0; i < N_MESSAGES; i++) {
        ck_assert_int_eq(bcs_test(ranks[RECEIVER].context, &receives[i], true), 0);
        ck_assert_uint_eq(got[i], sent[i][0]);
    }
    for (int i = 0; i < N_MESSAGES; i++) { /* in order, so nobody is forgotten */
        ck_assert_int_eq(bcs_test(ranks[SENDER].context, &requests[i], true), 0);
    }
    ck_assert_uint_eq(receiver->desk->n_outbox, 0);
    ck_assert_uint_eq(n_rounds(), 0);
    close_job();
}
END_TEST

START_TEST(a_note_waits_behind_those_that_found_no_room)
{
    const struct bcs_descriptor note = {.kind = NIC_WIRE_MATCHED, .port = SENDER};
    struct bcs_request requests[N_MESSAGES], receives[N_MESSAGES];
    struct nic_view *receiver = match_more_than_can_be_told(requests, receives);
    const struct nic_layout *layout = &receiver->engine->layout;
    uint32_t n_waiting = receiver->desk->n_outbox;
    bcs_credit *credit;

    credit = nic_view_at(
        receiver, nic_layout_credit_gva(layout, RECEIVER,
                                        nic_layout_link_of(layout, SENDER, true)));
    atomic_fetch_add(credit, bcs_credit_make(1, 0)); /* there is room for one */
    nic_link_send(receiver, SENDER, &note);
    ck_assert_uint_eq(receiver->desk->n_outbox, n_waiting + 1);
    atomic_fetch_sub(credit, bcs_credit_make(1, 0));
    close_job();
}
END_TEST

START_TEST(a_landing_ring_gives_each_message_a_place_of_its_own)
{
    static const uint32_t lengths[] = {1, 33, 1000, 96, 2000, 4064};
    uint32_t position = (uint32_t)0 - 3 * N_LANDING_BYTES, taken = position;

    for (int i = 0; i < 1000; i++) {
        uint32_t n_bytes = lengths[i % 6];
        uint32_t begin = bcs_landing_begin(position, n_bytes, N_LANDING_BYTES);
        uint32_t place = begin & (N_LANDING_BYTES - 1);

        ck_assert_uint_lt(begin - position, N_LANDING_BYTES);
        ck_assert_uint_le(place + bcs_landing_bytes(n_bytes), N_LANDING_BYTES);
        ck_assert_uint_eq(place % BCS_CACHE_LINE, 0);
        position = begin + bcs_landing_bytes(n_bytes);
        taken = bcs_landing_end(taken, place, n_bytes, N_LANDING_BYTES);
        ck_assert_uint_eq(taken, position); /* the reader knows what the writer knows */
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("off_node");
    TCase *tcase = tcase_create("messages between nodes");

    tcase_add_test(tcase, a_message_needs_no_round);
    tcase_add_test(tcase, data_go_with_their_send_while_there_is_room);
    tcase_add_test(tcase, no_block_is_put_over_one_that_is_to_be_read);
    tcase_add_test(tcase, a_long_message_says_whose_sender_waits_and_how_it_lies);
    tcase_add_test(tcase, a_stamp_takes_no_room_of_data);
    tcase_add_test(tcase, data_that_nobody_has_received_stay);
    tcase_add_test(tcase, what_finds_no_room_in_a_link_of_desks_comes_later);
    tcase_add_test(tcase, a_note_waits_behind_those_that_found_no_room);
    tcase_add_test(tcase, a_landing_ring_gives_each_message_a_place_of_its_own);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
