/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of several nodes when batches and wires are full. The ranks are contexts of this
 * process, each on a node of its own; it posts for them, and turns the engine itself, so that
 * one round finds what it should.
 */
#include <check.h>
#include <string.h>

#include "nic_threads/roles/roles.h"
#include "tests/unit/collective_parts.h"
#include "tests/unit/run_suite.h"

enum { N_RANKS = 3, N_SLOTS = 2 * BCS_BATCH_MOST };

static struct job job;
static struct rank ranks[N_RANKS];

static void setup(void)
{
    /* with crews, as where messages and collectives share a batch */
    const struct job_shape shape = {.n_ranks = N_RANKS,
                                    .node_ranks = 1,
                                    .is_direct = true,
                                    .is_threaded = true,
                                    .has_crew = true};

    job_open(&job, &shape, ranks);
}

static void teardown(void)
{
    ck_assert_uint_eq(atomic_load(&job.shared->n_errors), 0);
    job_close(&job, ranks);
}

/** Let all nodes carry out one microphase after another, each when the one before is complete,
 *  until there is nothing more to do. */
static void turn(void)
{
    const struct nic_engine *engine = ranks[0].context->engine;
    bool has_done = true;

    while (has_done) {
        has_done = false;
        for (uint32_t i = 0; i < N_RANKS; i++) {
            has_done |= nic_strobe_receiver_step(nic_engine_node(engine, i));
        }
        has_done |= nic_strobe_sender_step(nic_engine_node(engine, 0));
    }
}

static void send_many(struct rank *me, int32_t to, uint32_t n)
{
    struct bcs_message message = rank_message(me, to, 1, NULL, 0);

    for (uint32_t i = 0; i < n; i++) {
        ck_assert_int_eq(bcs_send(me->context, &message, BCS_SEND_STANDARD, NULL), 0);
    }
}

/** All ranks open the slots from 0 on. */
static void open_slots(uint32_t n)
{
    for (int i = 0; i < N_RANKS; i++) {
        for (uint32_t slot = 0; slot < n; slot++) {
            ranks[i].world.slot = slot;
            rank_open_world(&ranks[i]);
        }
    }
    turn();
}

/* The sends of two nodes fill the batch of the third, so that an operand stays in the wire,
 * while all nodes have said that they have begun. */
START_TEST(a_reduction_waits_for_operands_that_find_no_room)
{
    uint32_t cells[N_RANKS];

    open_slots(1);
    for (int64_t round = 0; round < 3; round++) {
        for (int i = 0; i < N_RANKS; i++) {
            send_many(&ranks[i], 0, BCS_BATCH_MOST - 1);
            cells[i] = post_part(&ranks[i], 0, sum_of_words(), -1, 10 * i + round);
        }
        turn();
        for (int i = 0; i < N_RANKS; i++) {
            expect_part(&ranks[i], cells[i], 30 + 3 * round);
        }
    }
}
END_TEST

START_TEST(a_broadcast_waits_for_its_data)
{
    uint32_t cells[N_RANKS];

    open_slots(1);
    for (int root = 0; root < N_RANKS; root++) {
        for (int i = 0; i < N_RANKS; i++) {
            send_many(&ranks[i], 0, BCS_BATCH_MOST - 1);
            cells[i] =
                post_part(&ranks[i], 0, BCS_COLLECTIVE_BCAST, root, 100 * root + i);
        }
        turn();
        for (int i = 0; i < N_RANKS; i++) {
            if (i != root) {
                expect_part(&ranks[i], cells[i], 101 * root);
            }
        }
    }
}
END_TEST

/* One half of the slots is begun by rank 0 first, the other half by the others, so that all
 * can go in the same round. */
START_TEST(more_collectives_than_a_batch_holds_go_one_after_another)
{
    uint32_t cells[N_RANKS][N_SLOTS];

    open_slots(N_SLOTS);
    for (int i = 0; i < N_RANKS; i++) {
        for (uint32_t k = 0; k < N_SLOTS; k++) {
            uint32_t slot = (k + (i == 0 ? 0 : N_SLOTS / 2)) % N_SLOTS;

            cells[i][slot] = post_part(&ranks[i], slot, BCS_COLLECTIVE_BARRIER, -1, 0);
        }
    }
    turn();
    for (int i = 0; i < N_RANKS; i++) {
        for (uint32_t slot = 0; slot < N_SLOTS; slot++) {
            ck_assert_int_eq(bcs_cell_state(cell_of(&ranks[i], cells[i][slot])),
                             BCS_CELL_DONE);
        }
    }
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("collective_helper");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, a_reduction_waits_for_operands_that_find_no_room);
    tcase_add_test(tcase, a_broadcast_waits_for_its_data);
    tcase_add_test(tcase, more_collectives_than_a_batch_holds_go_one_after_another);
    return run_tcase("collective_helper", tcase);
}
