/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring of an open channel, both ends in one thread: step by step, and by a model.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/channel_ends.h"

enum { N_STEPS = 200000, N_SEEDS = 20, MODEL_MOST = 4096 };

START_TEST(every_bit_of_a_word_may_be_data)
{
    static const uint64_t words[] = {0, UINT64_MAX, BCS_CHANNEL_LAP, 1,
                                     UINT64_C(1) << 63};
    uint64_t word;

    open_both(8, 1);
    for (int lap = 0; lap < 50; lap++) {
        for (size_t i = 0; i < 5; i++) {
            ck_assert(!bcs_channel_try_receive(in, &word, sizeof(word)));
            ck_assert_int_eq(bcs_channel_send_word(out, words[i]), 0);
            ck_assert_int_eq(bcs_channel_receive_word(in, &word), 0);
            ck_assert_uint_eq(word, words[i]);
        }
    }
    close_both();
}
END_TEST

START_TEST(records_of_all_lengths_pass_through_the_least_ring)
{
    uint8_t sent[BCS_CHANNEL_RECORD_MOST], received[BCS_CHANNEL_RECORD_MOST];

    for (uint32_t n_bytes = 1; n_bytes <= BCS_CHANNEL_RECORD_MOST; n_bytes++) {
        open_both(n_bytes, 1);
        for (int i = 0; i < 100; i++) {
            memset(sent, i, sizeof(sent));
            memset(received, 0xee, sizeof(received));
            ck_assert_int_eq(bcs_channel_send(out, sent, n_bytes, false), 0);
            ck_assert_int_eq(bcs_channel_receive(in, received, n_bytes), 0);
            ck_assert_mem_eq(sent, received, n_bytes);
            ck_assert(n_bytes == sizeof(received) || received[n_bytes] == 0xee);
        }
        close_both();
    }
}
END_TEST

START_TEST(as_many_as_the_capacity_have_room_whatever_was_read_before)
{
    static const uint32_t capacities[] = {1, 2, 7, 8, 50, 63, 64, 1000};
    uint64_t word = 0;

    for (size_t c = 0; c < 8; c++) {
        open_both(8, capacities[c]);
        for (uint32_t n_before = 0; n_before < 40; n_before++) {
            for (uint32_t i = 0; i < capacities[c]; i++) {
                word = i;
                ck_assert(bcs_channel_try_send(out, &word, sizeof(word), false));
            }
            for (uint32_t i = 0; i < capacities[c]; i++) {
                ck_assert(bcs_channel_try_receive(in, &word, sizeof(word)));
                ck_assert_uint_eq(word, i);
            }
            /* Another place in the block for the next round. */
            ck_assert(bcs_channel_try_send(out, &word, sizeof(word), false));
            ck_assert(bcs_channel_try_receive(in, &word, sizeof(word)));
        }
        close_both();
    }
}
END_TEST

START_TEST(a_full_channel_takes_nothing_until_it_is_read)
{
    uint64_t word = 0, n_sent = 0;

    open_both(8, 1);
    while (bcs_channel_try_send(out, &n_sent, sizeof(n_sent), false)) {
        n_sent++;
    }
    ck_assert_uint_eq(n_sent, 3 * 7); /* the blocks that a capacity of 1 takes */
    for (uint64_t i = 0; i < 8; i++) {
        ck_assert(!bcs_channel_try_send(out, &word, sizeof(word), false));
        ck_assert(bcs_channel_try_receive(in, &word, sizeof(word)));
        ck_assert_uint_eq(word, i);
    }
    ck_assert(bcs_channel_try_send(out, &n_sent, sizeof(n_sent), false));
    close_both();
}
END_TEST

START_TEST(status_goes_from_empty_to_full_and_back)
{
    uint64_t word = 0;
    int n = 0;

    open_both(8, 7 * 8);
    ck_assert_int_eq(bcs_channel_status_in(in), BCS_CHANNEL_EMPTY);
    ck_assert_int_eq(bcs_channel_status_out(out), BCS_CHANNEL_EMPTY);
    ck_assert(bcs_channel_try_send(out, &word, sizeof(word), false));
    ck_assert_int_eq(bcs_channel_status_in(in), BCS_CHANNEL_PARTLY);
    ck_assert_int_eq(bcs_channel_status_out(out), BCS_CHANNEL_PARTLY);
    for (; bcs_channel_status_in(in) == BCS_CHANNEL_PARTLY; n++) {
        ck_assert(bcs_channel_try_send(out, &word, sizeof(word), false));
    }
    ck_assert_int_eq(n, 7 * 5); /* 11 blocks: the sixth one is begun */
    ck_assert_int_eq(bcs_channel_status_in(in), BCS_CHANNEL_HALF);
    ck_assert_int_eq(bcs_channel_status_out(out), BCS_CHANNEL_HALF);
    while (bcs_channel_try_send(out, &word, sizeof(word), false)) {
        ck_assert_int_ge(bcs_channel_status_in(in), BCS_CHANNEL_HALF);
    }
    ck_assert_int_eq(bcs_channel_status_in(in), BCS_CHANNEL_FULL);
    ck_assert_int_eq(bcs_channel_status_out(out), BCS_CHANNEL_FULL);
    while (bcs_channel_try_receive(in, &word, sizeof(word))) {
    }
    ck_assert_int_eq(bcs_channel_status_in(in), BCS_CHANNEL_EMPTY);
    close_both();
}
END_TEST

START_TEST(many_stop_behind_the_end_of_a_message)
{
    const uint64_t words[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    uint64_t last = 10, got[32];
    size_t n;

    open_both(8, 100);
    ck_assert(bcs_channel_is_end(in));
    for (int i = 0; i < 100; i++) {
        ck_assert_int_eq(bcs_channel_send_many(out, words, 10, 8, &n), 0);
        ck_assert_uint_eq(n, 10);
        ck_assert_int_eq(bcs_channel_send(out, &last, 8, true), 0);
        ck_assert_int_eq(bcs_channel_send_many(out, words, 10, 8, &n), 0);
        ck_assert_int_eq(bcs_channel_receive_many(in, got, 32, 8, &n), 0);
        ck_assert_uint_eq(n, 11);
        ck_assert(bcs_channel_is_end(in));
        ck_assert_uint_eq(got[10], 10);
        ck_assert_int_eq(bcs_channel_receive_many(in, got, 10, 8, &n), 0);
        ck_assert_uint_eq(n, 10);
        ck_assert(!bcs_channel_is_end(in));
        ck_assert_mem_eq(got, words, sizeof(words));
    }
    close_both();
}
END_TEST

START_TEST(the_end_of_a_message_is_known_when_its_block_is_left)
{
    uint64_t word = 0;

    open_both(8, 20);
    for (int i = 0; i < 20; i++) {
        bool is_last = i % 2 == 1;

        for (int k = 1; k <= 7; k++) {
            ck_assert(
                bcs_channel_try_send(out, &word, sizeof(word), is_last && k == 7));
            ck_assert(bcs_channel_try_receive(in, &word, sizeof(word)));
        }
        ck_assert_int_eq(bcs_channel_status_in(in), BCS_CHANNEL_EMPTY);
        ck_assert_int_eq(bcs_channel_is_end(in), is_last);
    }
    close_both();
}
END_TEST

/** Send blocks of seven words. */
static void send_blocks(int n)
{
    uint64_t words[7] = {0};
    size_t n_words;

    for (int i = 0; i < n; i++) {
        ck_assert_int_eq(bcs_channel_send_many(out, words, 7, 8, &n_words), 0);
    }
}

/** Send so many blocks and read them. */
static void pass_blocks(int n)
{
    uint64_t words[7];
    size_t n_words;

    send_blocks(n);
    for (int i = 0; i < n; i++) {
        ck_assert_int_eq(bcs_channel_receive_many(in, words, 7, 8, &n_words), 0);
    }
}

START_TEST(a_reader_falls_behind_who_is_ahead_then)
{
    const struct channel_in *state;
    enum { N = CHANNEL_STREAM_BLOCKS };

    open_both(8, 7 * 5 * N);
    state = (const struct channel_in *)in;
    /* Other jobs may want the cores; nobody falls behind on purpose then. */
    atomic_store(&state->end.channels->bell.is_crowded, false);
    pass_blocks(N);
    ck_assert_int_eq(bcs_channel_send_word(out, 0), 0);
    ck_assert_int_eq(bcs_channel_wait_in(in), 0); /* N - 1 blocks are left: too early */
    ck_assert_uint_eq(state->behind_at, N);
    pass_blocks(1);
    ck_assert_int_eq(bcs_channel_wait_in(in), 0); /* in vain */
    ck_assert_uint_eq(state->behind_interval, 2 * N);
    pass_blocks(2 * N);
    send_blocks(4);
    ck_assert_int_eq(bcs_channel_wait_in(in), 0);
    ck_assert_uint_eq(state->behind_interval, N);
    ck_assert_uint_eq(state->behind_at, 3 * N + N);
    close_both();
}
END_TEST

/** What the model knows of a record that is on its way. */
struct record {
    uint8_t byte;
    bool is_last;
};

static struct record model[MODEL_MOST];
static size_t n_sent, n_received;

static void send_some(uint32_t n_bytes, uint32_t capacity)
{
    struct record record = {(uint8_t)rand(), rand() % 5 == 0};
    uint8_t bytes[BCS_CHANNEL_RECORD_MOST];

    memset(bytes, record.byte, sizeof(bytes));
    if (bcs_channel_try_send(out, bytes, n_bytes, record.is_last)) {
        model[n_sent++ % MODEL_MOST] = record;
        ck_assert_uint_le(n_sent - n_received, MODEL_MOST);
    } else {
        ck_assert_uint_ge(n_sent - n_received, capacity);
    }
}

static void receive_some(uint32_t n_bytes)
{
    uint8_t bytes[20 * BCS_CHANNEL_RECORD_MOST];
    size_t n_wanted = (size_t)rand() % 20 + 1;
    size_t n = bcs_channel_try_receive_many(in, bytes, n_wanted, n_bytes);

    ck_assert(n == n_wanted || n_received + n == n_sent || bcs_channel_is_end(in));
    for (size_t i = 0; i < n; i++) {
        const struct record *record = &model[n_received++ % MODEL_MOST];

        ck_assert(ranks_is_all(bytes + i * n_bytes, n_bytes, record->byte));
        ck_assert(i == n - 1 || !record->is_last);
        ck_assert(i < n - 1 || record->is_last == bcs_channel_is_end(in));
    }
}

START_TEST(a_model_knows_what_comes)
{
    uint32_t n_bytes, capacity;

    srand((unsigned)_i + 1);
    n_bytes = (uint32_t)rand() % BCS_CHANNEL_RECORD_MOST + 1;
    capacity = (uint32_t)rand() % (_i % 2 == 0 ? 8 : 300) + 1;
    n_sent = n_received = 0;
    open_both(n_bytes, capacity);
    for (int i = 0; i < N_STEPS / N_SEEDS; i++) {
        for (int k = rand() % 30; k > 0; k--) {
            send_some(n_bytes, capacity);
        }
        receive_some(n_bytes);
        ck_assert((bcs_channel_status_in(in) == BCS_CHANNEL_EMPTY) ==
                  (n_sent == n_received));
    }
    close_both();
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("both ends");

    tcase_add_checked_fixture(tcase, setup_alone, teardown_alone);
    tcase_add_test(tcase, every_bit_of_a_word_may_be_data);
    tcase_add_test(tcase, records_of_all_lengths_pass_through_the_least_ring);
    tcase_add_test(tcase, as_many_as_the_capacity_have_room_whatever_was_read_before);
    tcase_add_test(tcase, a_full_channel_takes_nothing_until_it_is_read);
    tcase_add_test(tcase, status_goes_from_empty_to_full_and_back);
    tcase_add_test(tcase, many_stop_behind_the_end_of_a_message);
    tcase_add_test(tcase, the_end_of_a_message_is_known_when_its_block_is_left);
    tcase_add_test(tcase, a_reader_falls_behind_who_is_ahead_then);
    tcase_add_loop_test(tcase, a_model_knows_what_comes, 0, N_SEEDS);
    return run_tcase("channel", tcase);
}
