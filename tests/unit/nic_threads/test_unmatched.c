/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the referee looks for at a desk: what has been posted and not read, be it in a
 * ring, in a link, or on its way from another node, and operations that have no
 * partner.
 */
#include "nic_threads/roles/unmatched.h"

#include <check.h>

#include "libbcs/api/message/wait.h"
#include "nic_threads/roles/turn.h"
#include "tests/engine/job.h"
#include "tests/unit/run_suite.h"

enum { N_RANKS = 3, TAG = 7, ALL = NIC_UNMATCHED_OWN | NIC_UNMATCHED_PART };

/* Bits of ranks. */
#define RANK(rank) (&(const uint64_t){UINT64_C(1) << (rank)})

static struct job job;
static struct rank ranks[N_RANKS];
static struct nic_engine *engine; /* of who judges */

static const struct job_shape shapes[] = {
    {.n_ranks = N_RANKS, .is_threaded = true, .is_direct = true},
    {.n_ranks = N_RANKS, .is_threaded = true, .node_ranks = 1, .is_direct = true},
    {.n_ranks = N_RANKS, .is_threaded = true, .has_crew = true, .is_direct = true},
    {.n_ranks = N_RANKS, .is_threaded = true, .has_crew = true, .node_ranks = 1},
};
enum { N_SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static void setup(int shape)
{
    job_open(&job, &shapes[shape], ranks);
    engine = job_open_background(&job, false);
}

static void teardown(void)
{
    nic_engine_destroy(engine);
    job_close(&job, ranks);
}

static const struct nic_view *desk(uint32_t rank)
{
    return nic_engine_view(engine, rank);
}

static void send(int from, int to, int32_t tag, struct bcs_request *request)
{
    struct bcs_message message = rank_message(&ranks[from], to, tag, NULL, 0);

    ck_assert_int_eq(
        bcs_send(ranks[from].context, &message,
                 request == NULL ? BCS_SEND_STANDARD : BCS_SEND_SYNCHRONOUS, request),
        0);
}

/** Send a message as those of collectives are. */
static void send_part(int from, int to)
{
    struct bcs_message message = rank_message(&ranks[from], to, TAG, NULL, 0);

    message.reserved[0] = BCS_SPACE_COLLECTIVE;
    ck_assert_int_eq(bcs_send(ranks[from].context, &message, BCS_SEND_STANDARD, NULL),
                     0);
}

static uint32_t receive(int rank, int from, int32_t tag, struct bcs_request *request)
{
    struct bcs_message message = rank_message(&ranks[rank], from, tag, NULL, 0);

    ck_assert_int_eq(bcs_recv(ranks[rank].context, &message, NULL, request), 0);
    return bcs_request_state(request)->cell;
}

/** Whether all desks have read what a rank has posted, wherever it goes. */
static bool is_read(uint32_t rank)
{
    bool is_read = true;

    for (uint32_t i = 0; i < N_RANKS; i++) {
        is_read &= nic_has_read_all(desk(i), RANK(rank));
    }
    return is_read;
}

START_TEST(a_message_that_nobody_has_read_is_seen_until_it_is)
{
    setup(_i);
    ck_assert(is_read(0) && is_read(1));
    send(1, 0, TAG, NULL);
    ck_assert(!is_read(1));
    /* The first word from another node may be anybody's. */
    ck_assert(is_read(2) || !nic_view_has(desk(0), 1));
    nic_engine_turn_all(engine);
    ck_assert(is_read(1));
    teardown();
}
END_TEST

START_TEST(a_receive_without_a_message_is_found)
{
    struct bcs_request request;
    uint32_t cell;

    setup(_i);
    cell = receive(0, 1, TAG, &request);
    ck_assert(nic_is_receive_unmatched(desk(0), 0, cell)); /* in its ring */
    nic_engine_turn_all(engine);
    ck_assert(nic_is_receive_unmatched(desk(0), 0, cell));
    ck_assert(!nic_is_receive_unmatched(desk(0), 0, cell + 1));
    send(1, 0, TAG + 1, NULL);
    nic_engine_turn_all(engine);
    ck_assert(nic_is_receive_unmatched(desk(0), 0, cell));
    send(1, 0, TAG, NULL);
    nic_engine_turn_all(engine);
    ck_assert(!nic_is_receive_unmatched(desk(0), 0, cell));
    bcs_test(ranks[0].context, &request, true);
    teardown();
}
END_TEST

START_TEST(a_receive_in_a_ring_does_not_count_while_a_message_waits)
{
    struct bcs_request request;
    uint32_t cell;

    setup(_i);
    send(1, 0, TAG, NULL);
    nic_engine_turn_all(engine);
    cell = receive(0, 1, TAG, &request);
    ck_assert(!nic_is_receive_unmatched(desk(0), 0, cell));
    ck_assert(!is_read(0));
    nic_engine_turn_all(engine);
    bcs_test(ranks[0].context, &request, true);
    teardown();
}
END_TEST

START_TEST(a_send_without_a_receive_is_found)
{
    struct bcs_request request, received;
    uint32_t cell;

    setup(_i);
    send(1, 0, TAG, &request);
    cell = bcs_request_state(&request)->cell;
    ck_assert(!nic_is_send_unmatched(desk(0), 0, 1, cell)); /* not there yet */
    nic_engine_turn_all(engine);
    ck_assert(nic_is_send_unmatched(desk(0), 0, 1, cell));
    ck_assert(!nic_is_send_unmatched(desk(0), 0, 2, cell));
    receive(0, 1, TAG, &received);
    nic_engine_turn_all(engine);
    ck_assert(!nic_is_send_unmatched(desk(0), 0, 1, cell));
    bcs_test(ranks[0].context, &received, true);
    bcs_test(ranks[1].context, &request, true);
    teardown();
}
END_TEST

/* By its sender, and among those that are listed; until it is received. */
START_TEST(a_send_that_a_matched_probe_has_is_found)
{
    struct bcs_request request, received;
    struct nic_unreceived list[2];
    struct bcs_result result;
    struct bcs_message in;
    uint32_t cell, item;

    setup(_i);
    in = rank_message(&ranks[0], 1, TAG, NULL, 0);
    for (int i = 0; i < 3; i++) {
        send(1, 0, TAG, &request);
        cell = bcs_request_state(&request)->cell;
        nic_engine_turn_all(engine);
        ck_assert_int_eq(bcs_mprobe(ranks[0].context, &in, false, &result, &item), 0);
        ck_assert(!is_read(0));
        nic_engine_turn_all(engine);
        ck_assert(is_read(0));
        ck_assert(nic_is_send_unmatched(desk(0), 0, 1, cell));
        ck_assert_uint_eq(nic_unmatched_sends(desk(0), 0, ALL, list, 2), 0);
        ck_assert_uint_eq(
            nic_unmatched_sends(desk(0), 0, ALL | NIC_UNMATCHED_TAKEN, list, 2), 1);
        ck_assert(list[0].is_taken && list[0].from == 1 && list[0].tag == TAG);
        ck_assert_int_eq(bcs_imrecv(ranks[0].context, &in, item, &received), 0);
        ck_assert(!is_read(0));
        nic_engine_turn_all(engine);
        ck_assert(!nic_is_send_unmatched(desk(0), 0, 1, cell));
        ck_assert_uint_eq(
            nic_unmatched_sends(desk(0), 0, ALL | NIC_UNMATCHED_TAKEN, list, 2), 0);
        bcs_test(ranks[0].context, &received, true);
        bcs_test(ranks[1].context, &request, true);
    }
    teardown();
}
END_TEST

START_TEST(messages_that_nobody_has_received_are_listed)
{
    struct nic_unreceived list[3];

    setup(_i);
    send(1, 0, TAG, NULL);
    send(2, 0, TAG + 1, NULL);
    nic_engine_turn_all(engine);
    ck_assert_uint_eq(nic_unmatched_sends(desk(0), 0, ALL, list, 3), 2);
    ck_assert_uint_eq(nic_unmatched_sends(desk(0), 0, ALL, list, 1), 1);
    ck_assert_uint_eq(list[0].to, 0);
    ck_assert(list[0].from == 1 ? list[0].tag == TAG : list[0].tag == TAG + 1);
    ck_assert_uint_eq(nic_unmatched_sends(desk(1), 1, ALL, list, 3), 0);
    ck_assert_uint_eq(nic_unmatched_sends(desk(0), 0, NIC_UNMATCHED_PART, list, 3), 0);
    send_part(1, 0);
    nic_engine_turn_all(engine);
    ck_assert_uint_eq(nic_unmatched_sends(desk(0), 0, NIC_UNMATCHED_PART, list, 3), 1);
    ck_assert_uint_eq(list[0].context_id % 2, 1);
    teardown();
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("unmatched");

    tcase_add_loop_test(tcase, a_message_that_nobody_has_read_is_seen_until_it_is, 0,
                        N_SHAPES);
    tcase_add_loop_test(tcase, a_receive_without_a_message_is_found, 0, N_SHAPES);
    tcase_add_loop_test(tcase, a_receive_in_a_ring_does_not_count_while_a_message_waits,
                        0, N_SHAPES);
    tcase_add_loop_test(tcase, a_send_without_a_receive_is_found, 0, N_SHAPES);
    tcase_add_loop_test(tcase, a_send_that_a_matched_probe_has_is_found, 0, N_SHAPES);
    tcase_add_loop_test(tcase, messages_that_nobody_has_received_are_listed, 0,
                        N_SHAPES);
    return run_tcase("unmatched", tcase);
}
