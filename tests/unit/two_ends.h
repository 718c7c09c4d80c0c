/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fixture for long messages: sender and receiver are two contexts of this process,
 * and the engine turns when the test says so. Included by one file of a program.
 */
#ifndef TESTS_UNIT_TWO_ENDS_H
#define TESTS_UNIT_TWO_ENDS_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/api/message/transfer.h"
#include "nic_threads/roles/turn.h"
#include "tests/engine/job.h"
#include "tests/pattern.h"

enum { N_BYTES = 300000, SENDER = 0, RECEIVER = 1, N_RANKS = 2 };

static struct job job;
static struct rank ranks[N_RANKS];
static uint8_t source[N_BYTES], target[N_BYTES];
static struct bcs_request sending, receiving;

static void setup_job(bool is_direct)
{
    const struct job_shape shape = {
        .n_ranks = N_RANKS, .is_direct = is_direct, .is_threaded = true};

    job_open(&job, &shape, ranks);
    pattern_fill(source, N_BYTES, 0);
}

static void teardown(void)
{
    job_close(&job, ranks);
}

static void turn(void)
{
    nic_engine_turn_all(ranks[SENDER].context->engine);
}

static struct bcs_cell *cell_of(int rank, const struct bcs_request *request)
{
    return bcs_poster_cell_at(&ranks[rank].context->poster,
                              bcs_request_state(request)->cell);
}

static enum bcs_cell_state state_of(int rank, const struct bcs_request *request)
{
    return bcs_cell_state(cell_of(rank, request));
}

static void post_send(int tag, size_t n_bytes, struct bcs_request *request)
{
    struct bcs_message message =
        rank_message(&ranks[SENDER], RECEIVER, tag, source, n_bytes);

    ck_assert_int_eq(
        bcs_send(ranks[SENDER].context, &message, BCS_SEND_STANDARD, request), 0);
}

static void post_receive(int tag, size_t n_bytes, struct bcs_request *request)
{
    struct bcs_message message =
        rank_message(&ranks[RECEIVER], SENDER, tag, target, n_bytes);

    memset(target, 0, sizeof(target));
    ck_assert_int_eq(bcs_recv(ranks[RECEIVER].context, &message, NULL, request), 0);
}

/** Post a long message and let the engine open its transfer. */
static void begin(void)
{
    post_send(1, N_BYTES, &sending);
    post_receive(1, N_BYTES, &receiving);
    turn();
}

static bool pull(void)
{
    return bcs_transfer_pull(ranks[RECEIVER].context, cell_of(RECEIVER, &receiving),
                             &receiving);
}

static bool push(void)
{
    return bcs_transfer_push(ranks[SENDER].context, cell_of(SENDER, &sending),
                             &sending);
}

static void expect_all_copied(void)
{
    ck_assert_mem_eq(target, source, N_BYTES);
}

/** Let both ends and the engine act in random order until the message is over. */
static void run_at_random(size_t n_sent, size_t n_wanted)
{
    size_t n_bytes = n_sent < n_wanted ? n_sent : n_wanted;

    post_send(3, n_sent, &sending);
    post_receive(3, n_wanted, &receiving);
    while (!bcs_is_done(&sending) || !bcs_is_done(&receiving)) {
        switch (rand() % 3) {
        case 0:
            bcs_look(ranks[SENDER].context, &sending);
            break;
        case 1:
            bcs_look(ranks[RECEIVER].context, &receiving);
            break;
        default:
            turn();
        }
    }
    ck_assert_mem_eq(target, source, n_bytes);
    for (size_t i = n_bytes; i < n_bytes + 100 && i < N_BYTES; i++) {
        ck_assert_int_eq(target[i], 0);
    }
    ck_assert_uint_eq(receiving.result.n_bytes, n_bytes);
}

#endif
