/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs of many nodes, and nodes of many ports. The ranks are contexts of this process,
 * which posts for them and turns the engine itself.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "nic_threads/roles/roles.h"
#include "nic_threads/roles/turn.h"
#include "tests/unit/collective_parts.h"
#include "tests/unit/run_suite.h"

enum {
    N_ROUNDS = 3,
    N_SLICES = 4, /* of timed ones, after which all that is pending is done */
    MOST_RANKS = 800,
    MOST_TURNS = 200, /* a collective takes two rounds of seven microphases */
};

static const struct job_shape shapes[] = {
    {.n_ranks = 600, .node_ranks = 1},
    {.n_ranks = 700, .node_ranks = 2},
    {.n_ranks = 300},
    {.n_ranks = 300, .has_crew = true},
    {.n_ranks = 300, .is_timed = true},
    {.n_ranks = 800, .node_ranks = 400, .is_timed = true},
};

enum { N_SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static struct job job;
static struct rank ranks[MOST_RANKS];

static void open_job(int i)
{
    struct job_shape shape = shapes[i];

    shape.is_direct = true;
    shape.is_threaded = true;
    job_open(&job, &shape, ranks);
}

static void close_job(void)
{
    ck_assert_uint_eq(atomic_load(&job.shared->n_errors), 0);
    job_close(&job, ranks);
}

/** Let every node do what it can. @return whether anything was done */
static bool turn_once(struct nic_engine *engine)
{
    bool has_done = false;

    if (nic_is_linked(engine) || !nic_has_strobes(engine)) {
        return nic_engine_turn_all(engine);
    }
    for (uint32_t i = 0; i < engine->n_nodes; i++) {
        has_done |= nic_strobe_receiver_step(nic_engine_node(engine, i));
    }
    return nic_strobe_sender_step(nic_engine_view_at(engine, 0)) || has_done;
}

/** Let all nodes go on until there is nothing more to do. */
static void turn(void)
{
    struct nic_engine *engine = ranks[0].context->engine;

    for (int i = 0; i < (engine->is_timed ? N_SLICES : 1); i++) {
        if (engine->is_timed) {
            nic_strobe_sender_open_slice(nic_engine_view_at(engine, 0));
        }
        for (uint32_t n = 0; turn_once(engine); n++) {
            ck_assert_uint_lt(n, MOST_TURNS);
        }
    }
}

/** Sums over the ranks that are in a group, in rank order; slots are used once. */
static void sums_over(uint32_t slot, const bool is_in[])
{
    static uint32_t ports[MOST_RANKS], cells[MOST_RANKS];
    uint32_t n_all = job.shape.n_ranks, n = 0;

    for (uint32_t i = 0; i < n_all; i++) {
        if (is_in[i]) {
            ports[n++] = i;
        }
    }
    if (nic_is_linked(ranks[0].context->engine)) {
        return; /* such groups do without the engine */
    }
    for (uint32_t i = 0; i < n; i++) {
        struct bcs_group *group = &ranks[ports[i]].world;

        group->slot = slot;
        group->rank = (int32_t)i;
        group->size = (int32_t)n;
        group->ports = group->ranks = ports;
        rank_open_world(&ranks[ports[i]]);
    }
    for (int64_t round = 0; round < N_ROUNDS; round++) {
        int64_t sum = 0;

        for (uint32_t i = 0; i < n; i++) {
            cells[i] = post_part(&ranks[ports[i]], slot, sum_of_words(), -1,
                                 ports[i] * 3 + round);
            sum += ports[i] * 3 + round;
        }
        turn();
        for (uint32_t i = 0; i < n; i++) {
            expect_part(&ranks[ports[i]], cells[i], sum);
        }
    }
}

START_TEST(all_ranks_and_parts_of_them_reduce)
{
    static bool is_in[MOST_RANKS];
    uint32_t slot = 0;

    open_job(_i);
    for (uint32_t step = 1; step <= 331; step += 66) {
        for (uint32_t i = 0; i < MOST_RANKS; i++) {
            is_in[i] = i % step == step / 2;
        }
        sums_over(slot++, is_in);
    }
    memset(is_in, 0, sizeof(is_in)); /* the two ends, and nobody between */
    is_in[0] = is_in[job.shape.n_ranks - 1] = true;
    sums_over(slot, is_in);
    close_job();
}
END_TEST

START_TEST(all_ranks_send_to_one_far_off)
{
    static struct bcs_request requests[MOST_RANKS];
    static uint32_t got[MOST_RANKS];
    uint32_t n;

    open_job(_i);
    n = job.shape.n_ranks;
    for (uint32_t i = 0; i < n; i++) {
        struct bcs_message message = rank_message(&ranks[i], (int32_t)((i + n / 2) % n),
                                                  1, &got[i], sizeof(got[i]));

        ck_assert_int_eq(bcs_recv(ranks[i].context, &message, NULL, &requests[i]), 0);
    }
    for (uint32_t i = 0; i < n; i++) {
        struct bcs_message message =
            rank_message(&ranks[i], (int32_t)((i + n - n / 2) % n), 1, &i, sizeof(i));

        ck_assert_int_eq(bcs_send(ranks[i].context, &message, BCS_SEND_STANDARD, NULL),
                         0);
    }
    turn();
    for (uint32_t i = 0; i < n; i++) {
        ck_assert_int_eq(bcs_test(ranks[i].context, &requests[i], false), 0);
        ck_assert_uint_eq(got[i], (i + n / 2) % n);
    }
    close_job();
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("many_ports");

    tcase_add_loop_test(tcase, all_ranks_and_parts_of_them_reduce, 0, N_SHAPES);
    tcase_add_loop_test(tcase, all_ranks_send_to_one_far_off, 0, N_SHAPES);
    return run_tcase("many_ports", tcase);
}
