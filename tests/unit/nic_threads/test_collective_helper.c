/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of several nodes when batches and wires are full, and when members do not
 * agree. The ranks are contexts of this process, each on a node of its own, or two on
 * one; it posts for them, and turns the engine itself, so that one round finds what it
 * should.
 */
#include <check.h>
#include <string.h>

#include "nic_threads/node/signature.h"
#include "nic_threads/roles/roles.h"
#include "tests/unit/collective_parts.h"
#include "tests/unit/run_suite.h"

enum { N_RANKS = 3, N_SLOTS = 2 * BCS_BATCH_MOST };

static struct job job;
static struct rank ranks[N_RANKS];

static void open_job(uint32_t node_ranks)
{
    /* timed, as messages and collectives share a batch there */
    const struct job_shape shape = {.n_ranks = N_RANKS,
                                    .node_ranks = node_ranks,
                                    .is_direct = true,
                                    .is_threaded = true,
                                    .is_timed = true,
                                    .has_crew = true};

    job_open(&job, &shape, ranks);
}

static void setup(void)
{
    open_job(1);
}

static void setup_two(void)
{
    open_job(2);
}

static void teardown(void)
{
    ck_assert_uint_eq(atomic_load(&job.shared->n_errors), 0);
    job_close(&job, ranks);
}

/** Let all nodes carry out one microphase of a slice after another, each when the one
 *  before is complete, until there is nothing more to do. */
static void run_slice(void)
{
    const struct nic_engine *engine = ranks[0].context->engine;
    bool has_done = true;

    nic_strobe_sender_open_slice(nic_engine_node(engine, 0));
    while (has_done) {
        has_done = false;
        for (uint32_t i = 0; i < engine->n_nodes; i++) {
            has_done |= nic_strobe_receiver_step(nic_engine_node(engine, i));
        }
        has_done |= nic_strobe_sender_step(nic_engine_node(engine, 0));
    }
}

/** A slice, and the next one, in which what it has completed is delivered. */
static void turn(void)
{
    run_slice();
    run_slice();
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

/* The sends of two nodes fill the batch of the third, so that an operand stays in the
 * wire, while all nodes have said that they have begun. */
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

/* One half of the slots is begun by rank 0 first, the other half by the others, so that
 * all can go in the same round. */
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

/* ------------------------------------------------------------------ agreement */

/** What a member that was refused is told. */
static struct nic_refusal refusal_of(int rank, uint32_t cell)
{
    struct nic_refusal refusal;

    ck_assert_int_eq(bcs_cell_state(cell_of(&ranks[rank], cell)), BCS_CELL_REFUSED);
    memcpy(&refusal, cell_of(&ranks[rank], cell)->payload, sizeof(refusal));
    return refusal;
}

/** All take part in the first collective of a slot. */
static void agree_once(void)
{
    uint32_t cells[N_RANKS];

    for (int i = 0; i < N_RANKS; i++) {
        cells[i] = post_part(&ranks[i], 0, sum_of_words(), -1, i);
    }
    turn();
    for (int i = 0; i < N_RANKS; i++) {
        expect_part(&ranks[i], cells[i], 3);
    }
}

START_TEST(nobody_is_refused_before_all_have_come)
{
    uint32_t cells[N_RANKS];

    open_slots(1);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < N_RANKS; i++) {
            cells[i] = post_part(&ranks[i], 0, sum_of_words(), -1, 1);
            turn();
            for (int k = 0; k <= i && i < N_RANKS - 1; k++) {
                ck_assert_int_eq(bcs_cell_state(cell_of(&ranks[k], cells[k])),
                                 BCS_CELL_PENDING);
            }
        }
        for (int i = 0; i < N_RANKS; i++) {
            expect_part(&ranks[i], cells[i], N_RANKS);
        }
    }
}
END_TEST

/** One is in another collective, of a higher or a lower number, or has another
 *  length. */
static void disagree(int odd, unsigned int operation, unsigned int odd_operation,
                     bool is_length_only)
{
    uint32_t cells[N_RANKS];

    open_slots(1);
    agree_once();
    for (int i = N_RANKS - 1; i >= 0; i--) {
        bool is_odd = i == odd;

        cells[i] = post_part_of(&ranks[i], 0, is_odd ? odd_operation : operation, 0, 1,
                                is_odd && is_length_only ? 4 : 8);
    }
    turn();
    for (int i = 0; i < N_RANKS; i++) {
        struct nic_refusal refusal = refusal_of(i, cells[i]);

        ck_assert_uint_eq(refusal.is_length_only, is_length_only);
        ck_assert_int_eq(refusal.rank, 0);
        ck_assert_uint_eq(nic_signature_operation(refusal.signature),
                          odd == 0 ? odd_operation : operation);
    }
}

START_TEST(members_that_are_in_other_collectives_are_refused)
{
    disagree(_i, sum_of_words(), BCS_COLLECTIVE_BCAST, false);
    teardown();
    setup();
    disagree(_i, BCS_COLLECTIVE_BCAST, sum_of_words(), false);
}
END_TEST

START_TEST(members_whose_lengths_differ_are_told_so)
{
    disagree(_i, BCS_COLLECTIVE_BCAST, BCS_COLLECTIVE_BCAST, true);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("collective_helper");
    TCase *tcase = tcase_create("nodes of one"), *two = tcase_create("nodes of two");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, a_reduction_waits_for_operands_that_find_no_room);
    tcase_add_test(tcase, a_broadcast_waits_for_its_data);
    tcase_add_test(tcase, more_collectives_than_a_batch_holds_go_one_after_another);
    tcase_add_test(tcase, nobody_is_refused_before_all_have_come);
    tcase_add_loop_test(tcase, members_that_are_in_other_collectives_are_refused, 0,
                        N_RANKS);
    tcase_add_loop_test(tcase, members_whose_lengths_differ_are_told_so, 0, N_RANKS);
    suite_add_tcase(suite, tcase);
    tcase_add_checked_fixture(two, setup_two, teardown);
    tcase_add_test(two, nobody_is_refused_before_all_have_come);
    tcase_add_loop_test(two, members_whose_lengths_differ_are_told_so, 0, N_RANKS);
    suite_add_tcase(suite, two);
    return run_suite(suite);
}
