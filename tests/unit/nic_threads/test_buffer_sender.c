/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends of a node of two ranks, some to each other and some to another node: each goes
 * its way, and its poster learns of its receive. The ranks are contexts of this
 * process, which turns the engine itself.
 */
#include <check.h>

#include "nic_threads/roles/turn.h"
#include "tests/engine/job.h"
#include "tests/unit/run_suite.h"

enum { N_RANKS = 3, FAR = 2, N_SENDS = 4 };

static struct job job;
static struct rank ranks[N_RANKS];

static struct bcs_request send(int from, int to, int32_t *value)
{
    struct bcs_message message =
        rank_message(&ranks[from], to, *value, value, sizeof(*value));
    struct bcs_request request;

    ck_assert_int_eq(
        bcs_send(ranks[from].context, &message, BCS_SEND_SYNCHRONOUS, &request), 0);
    return request;
}

START_TEST(sends_of_a_node_go_each_its_way)
{
    const struct job_shape shape = {.n_ranks = N_RANKS,
                                    .node_ranks = 2,
                                    .is_direct = true,
                                    .is_threaded = true,
                                    .is_timed = true};
    static const int from[N_SENDS] = {0, 0, 1, 1}, to[N_SENDS] = {FAR, 1, FAR, 0};
    int32_t values[N_SENDS] = {10, 11, 12, 13}, got[N_SENDS] = {0};
    struct bcs_request sends[N_SENDS], receives[N_SENDS];
    struct nic_engine *engine;

    job_open(&job, &shape, ranks);
    engine = job_open_background(&job, true);
    for (int i = 0; i < N_SENDS; i++) {
        struct bcs_message message =
            rank_message(&ranks[to[i]], from[i], values[i], &got[i], sizeof(got[i]));

        sends[i] = send(from[i], to[i], &values[i]);
        ck_assert_int_eq(bcs_recv(ranks[to[i]].context, &message, NULL, &receives[i]),
                         0);
    }
    for (int i = 0; i < 10; i++) { /* more slices than they need */
        nic_engine_run_slice(engine);
    }
    for (int i = 0; i < N_SENDS; i++) {
        ck_assert(bcs_look(ranks[from[i]].context, &sends[i]));
        ck_assert(bcs_look(ranks[to[i]].context, &receives[i]));
        ck_assert_int_eq(got[i], values[i]);
    }
    for (uint32_t node = 0; node < engine->n_nodes; node++) { /* and nothing twice */
        ck_assert_uint_eq(nic_engine_node(engine, node)->desk->n_sends_kept, 0);
    }
    nic_engine_destroy(engine);
    job_close(&job, ranks);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("buffer_sender");

    tcase_add_test(tcase, sends_of_a_node_go_each_its_way);
    return run_tcase("buffer_sender", tcase);
}
