/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long messages at their two ends, in an order that the test decides.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/fabric/ring/pieces.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/two_ends.h"

static void setup_direct(void)
{
    setup_job(true);
}

static void setup_pooled(void)
{
    setup_job(false);
}

START_TEST(the_receiver_alone_copies_a_message_chunk_by_chunk)
{
    const struct bcs_transfer *transfer;
    int n_chunks = 1;

    begin();
    ck_assert_int_eq(state_of(RECEIVER, &receiving), BCS_CELL_TRANSFER);
    ck_assert_int_eq(state_of(SENDER, &sending), BCS_CELL_SOURCE);
    transfer = &cell_of(RECEIVER, &receiving)->transfer;
    for (; !pull(); n_chunks++) {
        uint64_t granted = atomic_load(&transfer->granted);

        ck_assert_uint_eq(atomic_load(&transfer->moved), granted);
        ck_assert(!pull()); /* nothing more is granted before the engine's turn */
        ck_assert_uint_eq(atomic_load(&transfer->moved), granted);
        ck_assert_mem_eq(target, source, granted);
        ck_assert_int_eq(target[granted], 0);
        turn();
    }
    ck_assert_int_gt(n_chunks, 2);
    expect_all_copied();
    ck_assert_int_eq(state_of(SENDER, &sending), BCS_CELL_DONE);
    ck_assert(bcs_look(ranks[SENDER].context, &sending));
}
END_TEST

START_TEST(the_sender_alone_copies_a_message)
{
    begin();
    while (!push()) {
        ck_assert_int_eq(state_of(SENDER, &sending), BCS_CELL_SOURCE);
        turn();
    }
    expect_all_copied();
    memset(source, 0xee, 1000); /* it is the sender's again */
    ck_assert(pull());
    ck_assert(pattern_is_filled(target, N_BYTES, 0));
}
END_TEST

START_TEST(a_sender_that_comes_late_finds_it_done)
{
    begin();
    while (!pull()) {
        turn();
    }
    ck_assert(!push());
    ck_assert_int_eq(state_of(SENDER, &sending), BCS_CELL_DONE);
}
END_TEST

START_TEST(a_receiver_leaves_a_cell_alone_that_serves_another_message_by_now)
{
    struct bcs_request next_receiving;

    begin();
    while (!push()) {
        turn();
    }
    /* The sender has seen the end: it frees the cell, and uses it for the next message.
     */
    bcs_poster_free_cell(&ranks[SENDER].context->poster,
                         bcs_request_state(&sending)->cell);
    post_send(2, N_BYTES, &sending);
    post_receive(2, N_BYTES, &next_receiving);
    turn();
    ck_assert_int_eq(state_of(SENDER, &sending), BCS_CELL_SOURCE);
    ck_assert(pull());
    ck_assert_int_eq(state_of(SENDER, &sending), BCS_CELL_SOURCE);
    ck_assert(!push());
    ck_assert_int_eq(target[0], source[0]);
}
END_TEST

START_TEST(a_receiver_waits_for_a_sender_that_is_in_its_cell)
{
    _Atomic uint32_t *state;
    uint32_t present;

    begin();
    state = &cell_of(SENDER, &sending)->state;
    present = atomic_load(state);
    atomic_store(state, (present & ~(uint32_t)BCS_CELL_STATE_MASK) | BCS_CELL_JOINED);
    while (!bcs_transfer_is_moved(&cell_of(RECEIVER, &receiving)->transfer)) {
        ck_assert(!pull());
        turn();
    }
    ck_assert(!pull());
    ck_assert_int_eq(state_of(SENDER, &sending), BCS_CELL_JOINED);
    atomic_store(state, present); /* it has left without having seen the end */
    ck_assert(pull());
    ck_assert_int_eq(state_of(SENDER, &sending), BCS_CELL_DONE);
    expect_all_copied();
}
END_TEST

START_TEST(a_message_to_oneself_is_copied)
{
    struct bcs_context *context = ranks[SENDER].context;
    struct bcs_message out = rank_message(&ranks[SENDER], SENDER, 1, source, N_BYTES);
    struct bcs_message in = rank_message(&ranks[SENDER], SENDER, 1, target, N_BYTES);

    memset(target, 0, sizeof(target));
    ck_assert_int_eq(bcs_send(context, &out, BCS_SEND_STANDARD, &sending), 0);
    ck_assert_int_eq(bcs_recv(context, &in, NULL, &receiving), 0);
    while (bcs_test(context, &sending, false) == BCS_E_PENDING ||
           bcs_test(context, &receiving, false) == BCS_E_PENDING) {
    }
    expect_all_copied();
}
END_TEST

START_TEST(in_any_order_of_steps_every_byte_arrives)
{
    srand(1);
    for (int i = 0; i < 300; i++) {
        size_t n_sent = (size_t)(rand() % N_BYTES);

        run_at_random(n_sent, rand() % 2 == 0 ? N_BYTES : (size_t)(rand() % N_BYTES));
    }
}
END_TEST

/** Pieces that the sender has loaded and the receiver has not stored. */
static int n_loaded(void)
{
    const struct bcs_stream *stream = &cell_of(SENDER, &sending)->stream;
    int n = 0;

    for (int i = 0; i < BCS_STREAM_PIECES_MOST; i++) {
        n += atomic_load(&stream->pieces[i].block) != 0;
    }
    return n;
}

START_TEST(without_a_free_block_a_piece_waits)
{
    struct bcs_context *context = ranks[SENDER].context;
    uint64_t block, last = 0;

    begin();
    while ((block = bcs_poster_chunk_block(&context->poster)) != 0) {
        last = block;
    }
    ck_assert(!push());
    ck_assert_int_eq(n_loaded(), 0);
    bcs_block_free(bcs_poster_block_at(&context->poster, last));
    ck_assert(!push());
    ck_assert_int_eq(n_loaded(), 1);
}
END_TEST

START_TEST(short_messages_leave_the_blocks_of_long_ones_alone)
{
    struct bcs_context *context = ranks[SENDER].context;

    begin();
    while (bcs_poster_block(&context->poster, BCS_CHUNK_BLOCK_BYTES, 0) != 0) {
    }
    ck_assert(!push());
    ck_assert_int_gt(n_loaded(), 0);
}
END_TEST

START_TEST(the_sender_loads_some_pieces_ahead_and_no_more)
{
    begin();
    ck_assert(!push());
    ck_assert_int_gt(n_loaded(), 0);
    for (int i = 0; i < 3; i++) { /* a chunk of this job is one piece or two */
        ck_assert(!pull());
        ck_assert_int_eq(n_loaded(), 0);
        turn();
        ck_assert(!push());
        ck_assert_int_le(n_loaded(), BCS_STREAM_PIECES_MOST);
    }
    while (!bcs_is_done(&receiving) || !bcs_is_done(&sending)) {
        bcs_look(ranks[RECEIVER].context, &receiving);
        bcs_look(ranks[SENDER].context, &sending);
        turn();
    }
    expect_all_copied();
}
END_TEST

/* The chunks of this job are longer than one piece. */
START_TEST(a_stream_without_room_waits_for_the_receiver)
{
    ranks[SENDER].context->config.limits.stream_pieces = 1;
    ranks[RECEIVER].context->config.limits.stream_pieces = 1;
    begin();
    for (uint32_t i = 1; i <= 4; i++) {
        ck_assert(!push());
        ck_assert(!push());
        ck_assert_uint_eq(cell_of(SENDER, &sending)->stream.n_loaded, i);
        ck_assert(!pull());
        turn();
    }
}
END_TEST

START_TEST(the_ends_take_part_while_they_wait_for_something_else)
{
    begin();
    while (!bcs_is_done(&receiving)) {
        bcs_progress(ranks[RECEIVER].context);
        bcs_progress(ranks[SENDER].context);
    }
    ck_assert(bcs_look(ranks[SENDER].context, &sending));
    expect_all_copied();
}
END_TEST

START_TEST(an_order_that_is_overwritten_is_carried_out_all_the_same)
{
    struct bcs_poster *poster = &ranks[SENDER].context->poster;
    const struct nic_engine *engine = ranks[SENDER].context->engine;
    const struct bcs_order_table orders = {
        .entries = nic_view_at(
            nic_engine_view(engine, engine->port),
            nic_layout_order_gva(&engine->layout, engine->port)), /* as who orders */
        .mask = poster->orders.mask,
    };
    uint32_t n, n_entries = poster->orders.mask + 1, other = 0;

    begin();
    n = atomic_load(&poster->port->n_orders);
    ck_assert_uint_eq(n, poster->n_orders_seen + 1);
    ck_assert_ptr_eq(orders.entries, poster->orders.entries);
    for (uint32_t i = 0; i < n_entries; i++) {
        bcs_order_give(&poster->port->n_orders, &orders, other);
    }
    bcs_progress(ranks[SENDER].context);
    ck_assert_int_gt(n_loaded(), 0);
    ck_assert_uint_eq(poster->n_orders_seen, n + n_entries);
}
END_TEST

START_TEST(every_block_comes_back)
{
    struct bcs_context *context = ranks[SENDER].context;
    int n_free = 0;

    srand(2);
    for (int i = 0; i < 100; i++) {
        run_at_random(N_BYTES, N_BYTES);
    }
    while (bcs_poster_chunk_block(&context->poster) != 0) {
        n_free++;
    }
    ck_assert_int_eq(
        n_free, (32 << 20) / (BCS_CHUNK_BLOCK_BYTES + (int)sizeof(struct bcs_block)));
}
END_TEST

/** Have the receiver know which way was faster for messages of the sender. */
static void know_pace(bool is_faster_by_blocks)
{
    struct bcs_pace *pace = &ranks[RECEIVER].context->pace;

    for (int i = 0; i < 8; i++) {
        bool has_blocks = bcs_pace_wants_blocks(pace, SENDER, N_BYTES);

        bcs_pace_note(pace, SENDER, N_BYTES, has_blocks,
                      has_blocks == is_faster_by_blocks ? N_BYTES : 2 * N_BYTES);
    }
    bcs_pace_wants_blocks(pace, SENDER, N_BYTES); /* one that tries the other way */
}

enum {
    RECEIVER_WAITS = 1,
    SENDER_WAITS = 2,
    CORES_ARE_FREE = 4,
    TIME_IS_NOTED = RECEIVER_WAITS | SENDER_WAITS | CORES_ARE_FREE,
    BLOCKS_ARE_FASTER = 8,
    ALL_OF_IT = TIME_IS_NOTED | BLOCKS_ARE_FASTER,
};

/* A stream goes on only while both take part, each on a core. */
START_TEST(a_message_is_streamed_only_where_both_wait_and_that_was_faster)
{
    struct bcs_message sent =
        rank_message(&ranks[SENDER], RECEIVER, 1, source, N_BYTES);
    struct bcs_message received =
        rank_message(&ranks[RECEIVER], SENDER, 1, target, N_BYTES);
    const struct bcs_pace_entry *entries = ranks[RECEIVER].context->pace.entries;
    uint32_t n_noted = 0;

    know_pace((_i & BLOCKS_ARE_FASTER) != 0);
    ranks[RECEIVER].context->engine->machine->n_cpus =
        (_i & CORES_ARE_FREE) != 0 ? N_RANKS : N_RANKS - 1;
    sent.will_wait = (_i & SENDER_WAITS) != 0;
    received.will_wait = (_i & RECEIVER_WAITS) != 0;
    bcs_send(ranks[SENDER].context, &sent, BCS_SEND_STANDARD, &sending);
    bcs_recv(ranks[RECEIVER].context, &received, NULL, &receiving);
    turn();
    ck_assert_int_eq(cell_of(RECEIVER, &receiving)->transfer.is_streamed,
                     _i == ALL_OF_IT);
    while (!bcs_look(ranks[RECEIVER].context, &receiving)) {
        bcs_look(ranks[SENDER].context, &sending);
        turn();
    }
    expect_all_copied();
    for (uint32_t i = 0; i < BCS_PACE_ENTRIES; i++) {
        n_noted += entries[i].n_noted[false] + entries[i].n_noted[true];
    }
    ck_assert_uint_eq(n_noted, 8 + ((_i & TIME_IS_NOTED) == TIME_IS_NOTED));
    while (!bcs_look(ranks[SENDER].context, &sending)) {
        turn();
    }
}
END_TEST

static TCase *direct_tcase(void)
{
    TCase *tcase = tcase_create("direct");

    tcase_add_checked_fixture(tcase, setup_direct, teardown);
    tcase_add_test(tcase, the_receiver_alone_copies_a_message_chunk_by_chunk);
    tcase_add_test(tcase, the_sender_alone_copies_a_message);
    tcase_add_test(tcase, a_sender_that_comes_late_finds_it_done);
    tcase_add_test(tcase,
                   a_receiver_leaves_a_cell_alone_that_serves_another_message_by_now);
    tcase_add_test(tcase, a_receiver_waits_for_a_sender_that_is_in_its_cell);
    tcase_add_test(tcase, a_message_to_oneself_is_copied);
    tcase_add_test(tcase, in_any_order_of_steps_every_byte_arrives);
    tcase_add_loop_test(tcase,
                        a_message_is_streamed_only_where_both_wait_and_that_was_faster,
                        0, ALL_OF_IT + 1);
    return tcase;
}

static TCase *pooled_tcase(void)
{
    TCase *tcase = tcase_create("pooled");

    tcase_add_checked_fixture(tcase, setup_pooled, teardown);
    tcase_add_test(tcase, a_message_to_oneself_is_copied);
    tcase_add_test(tcase, in_any_order_of_steps_every_byte_arrives);
    tcase_add_test(tcase, without_a_free_block_a_piece_waits);
    tcase_add_test(tcase, short_messages_leave_the_blocks_of_long_ones_alone);
    tcase_add_test(tcase, the_sender_loads_some_pieces_ahead_and_no_more);
    tcase_add_test(tcase, a_stream_without_room_waits_for_the_receiver);
    tcase_add_test(tcase, the_ends_take_part_while_they_wait_for_something_else);
    tcase_add_test(tcase, an_order_that_is_overwritten_is_carried_out_all_the_same);
    tcase_add_test(tcase, every_block_comes_back);
    return tcase;
}

int main(void)
{
    Suite *suite = suite_create("transfer");

    suite_add_tcase(suite, direct_tcase());
    suite_add_tcase(suite, pooled_tcase());
    return run_suite(suite);
}
