/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collection of what processes have posted: a process that always has more than a slice can
 * take does not keep others waiting for longer than there are processes on the node.
 */
#include <check.h>

#include "nic_threads/roles/roles.h"
#include "tests/engine/job.h"
#include "tests/unit/run_suite.h"

enum { N_RANKS = 3, N_FLOOD = 250 };

static struct job job;
static struct rank ranks[N_RANKS];
static struct nic_engine *engine;

static void setup(void)
{
    const struct job_shape shape = {
        .n_ranks = N_RANKS, .is_direct = true, .is_threaded = true};
    struct nic_engine_params params = {
        .n_ports = N_RANKS, .config = &job.config, .is_background = true};

    job_open(&job, &shape, ranks);
    params.memory = job.memory;
    params.machine = &job.shared->machine;
    ck_assert_int_eq(nic_engine_create(&params, &engine), 0);
}

static void teardown(void)
{
    nic_engine_destroy(engine);
    job_close(&job, ranks);
}

/** Messages of a rank to itself that nobody receives. */
static void post_sends(int rank, int n)
{
    struct bcs_request request;

    for (int i = 0; i < n; i++) {
        struct bcs_message message = rank_message(&ranks[rank], rank, 0, NULL, 0);

        ck_assert_int_eq(
            bcs_send(ranks[rank].context, &message, BCS_SEND_STANDARD, &request), 0);
    }
}

static uint32_t n_taken(int rank)
{
    return nic_match_n_sends(&engine->views[0].per_port.match[rank]);
}

START_TEST(every_process_comes_first_in_turn)
{
    post_sends(_i, N_FLOOD);
    for (int rank = 0; rank < N_RANKS; rank++) {
        if (rank != _i) {
            post_sends(rank, 1);
        }
    }
    for (int slice = 0; slice < N_RANKS; slice++) {
        ck_assert(nic_strobe_receiver_run_alone(&engine->views[0]));
    }
    ck_assert_uint_lt(n_taken(_i),
                      N_FLOOD); /* else the flood fits, and nothing is shown */
    for (int rank = 0; rank < N_RANKS; rank++) {
        ck_assert_uint_gt(n_taken(rank), 0);
    }
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("collection");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, every_process_comes_first_in_turn, 0, N_RANKS);
    return run_tcase("collection", tcase);
}
