/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matching within one slice: what processes post one after another and the engine finds
 * together. The ranks are contexts of this process, which turns the engine itself.
 */
#include <check.h>

#include "libbcs/api/p2p.h"
#include "nic_threads/drivers/turn.h"
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

static void receive(int32_t tag, int *data, struct bcs_request *request)
{
    struct bcs_message message = rank_message(&ranks[0], 1, tag, data, sizeof(*data));

    ck_assert_int_eq(bcs_recv(ranks[0].context, &message, NULL, request), 0);
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
    ck_assert_uint_eq(bcs_inside(&first)->cell, bcs_inside(&second)->cell);
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

int main(void)
{
    TCase *tcase = tcase_create("buffer_receiver");

    tcase_add_loop_test(
        tcase, a_late_cancellation_leaves_the_next_receive_with_the_cell, 0, 2);
    tcase_add_loop_test(
        tcase, a_receive_is_taken_back_in_the_slice_in_which_it_was_posted, 0, 2);
    return run_tcase("buffer_receiver", tcase);
}
