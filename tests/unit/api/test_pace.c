/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which way long messages are to come, by how long others took.
 */
#include <check.h>

#include "libbcs/api/context/pace.h"
#include "tests/unit/run_suite.h"

enum { PORT = 7, N_BYTES = 65536, SETTLED = 100, MANY = 10000 };

/** A pair of cores. */
struct cores {
    uint64_t direct, blocks; /* ticks of a message */
};

static const struct cores near = {.direct = 9000, .blocks = 5500};
static const struct cores far = {.direct = 11000, .blocks = 22000};

/** Have so many messages come. @return how many came through blocks */
static int receive(struct bcs_pace *pace, uint64_t n_bytes, const struct cores *cores,
                   int n)
{
    int n_blocks = 0;

    for (int i = 0; i < n; i++) {
        bool has_blocks = bcs_pace_wants_blocks(pace, PORT, n_bytes);

        n_blocks += has_blocks;
        bcs_pace_note(pace, PORT, n_bytes, has_blocks,
                      (has_blocks ? cores->blocks : cores->direct) * n_bytes / N_BYTES);
    }
    return n_blocks;
}

START_TEST(the_faster_way_is_found_and_hardly_left)
{
    struct bcs_pace pace = {0};
    int n;

    receive(&pace, N_BYTES, &near, SETTLED);
    n = receive(&pace, N_BYTES, &near, MANY);
    ck_assert_int_ge(n, MANY - MANY / 200);
    ck_assert_int_lt(n, MANY); /* the other one is tried, too */
    receive(&pace, 1 << 20, &far, SETTLED);
    n = receive(&pace, 1 << 20, &far, MANY);
    ck_assert_int_le(n, MANY / 200);
    ck_assert_int_gt(n, 0);
}
END_TEST

START_TEST(it_is_found_again_when_the_cores_have_changed)
{
    struct bcs_pace pace = {0};

    for (int i = 0; i < 3; i++) {
        receive(&pace, N_BYTES, &near, MANY);
        ck_assert_int_ge(receive(&pace, N_BYTES, &near, MANY), MANY - MANY / 200);
        receive(&pace, N_BYTES, &far, MANY);
        ck_assert_int_le(receive(&pace, N_BYTES, &far, MANY), MANY / 200);
    }
}
END_TEST

START_TEST(one_message_that_was_held_up_changes_nothing)
{
    struct bcs_pace pace = {0};

    receive(&pace, N_BYTES, &near, SETTLED);
    bcs_pace_note(&pace, PORT, N_BYTES, true, 1000 * near.blocks);
    ck_assert_int_ge(receive(&pace, N_BYTES, &near, MANY), MANY - MANY / 100);
}
END_TEST

START_TEST(ports_and_lengths_are_apart)
{
    struct bcs_pace pace = {0};

    receive(&pace, N_BYTES, &near, MANY);
    receive(&pace, 1 << 20, &far, MANY);
    ck_assert_int_ge(receive(&pace, N_BYTES, &near, 100), 98);
    ck_assert_int_le(receive(&pace, 1 << 20, &far, 100), 2);
}
END_TEST

START_TEST(direct_is_the_way_where_nothing_was_noted)
{
    struct bcs_pace pace = {0};

    for (int i = 0; i < SETTLED; i++) {
        bool has_blocks = bcs_pace_wants_blocks(&pace, PORT, N_BYTES);

        ck_assert(i < 8 || !has_blocks);
    }
    bcs_pace_note(&pace, PORT, N_BYTES, true, 1); /* one way only */
    bcs_pace_note(&pace, PORT, N_BYTES, true, 1);
    ck_assert(!bcs_pace_wants_blocks(&pace, PORT, N_BYTES));
}
END_TEST

START_TEST(what_gives_way_is_begun_anew)
{
    struct bcs_pace pace = {0};

    receive(&pace, N_BYTES, &near, MANY);
    for (uint32_t port = 0; port < 4 * BCS_PACE_ENTRIES; port++) {
        bcs_pace_note(&pace, PORT + 1 + port, N_BYTES, false, 1);
    }
    for (int i = 0; i < 8; i++) {
        ck_assert_int_eq(bcs_pace_wants_blocks(&pace, PORT, N_BYTES), i % 2);
    }
}
END_TEST

START_TEST(the_way_is_the_usually_faster_one_not_the_one_with_the_fastest_message)
{
    /* as measured in an exchange between cores that are apart */
    static const uint64_t n_blocks[] = {8800, 4400, 9300, 9600, 4600, 9800};
    struct bcs_pace pace = {0};
    int n = 0;

    for (int i = 0; i < MANY; i++) {
        bool has_blocks = bcs_pace_wants_blocks(&pace, PORT, N_BYTES);
        bool is_held = i % 7 == 0;

        n += has_blocks;
        bcs_pace_note(&pace, PORT, N_BYTES, has_blocks,
                      has_blocks ? n_blocks[n % 6]
                      : is_held  ? 9000
                                 : 5000);
    }
    ck_assert_int_le(n, MANY / 20);
}
END_TEST

START_TEST(trials_end_when_the_way_is_clear)
{
    static const struct cores far_apart = {.direct = 10000, .blocks = 60000};
    struct bcs_pace pace = {0};

    ck_assert_int_eq(receive(&pace, N_BYTES, &far_apart, SETTLED), 2);
    /* and what a trial costs more is spread over so many as hardly feel it */
    ck_assert_int_le(receive(&pace, N_BYTES, &far_apart, MANY), MANY / 2000);
}
END_TEST

START_TEST(what_no_cache_holds_comes_directly)
{
    struct bcs_pace pace = {0};

    ck_assert_int_eq(receive(&pace, 8 << 20, &near, MANY), 0);
    ck_assert_int_ge(receive(&pace, (8 << 20) - 1, &near, MANY), MANY - MANY / 200 - 8);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("pace");

    tcase_add_test(tcase, the_faster_way_is_found_and_hardly_left);
    tcase_add_test(tcase, it_is_found_again_when_the_cores_have_changed);
    tcase_add_test(tcase, one_message_that_was_held_up_changes_nothing);
    tcase_add_test(tcase, ports_and_lengths_are_apart);
    tcase_add_test(tcase, direct_is_the_way_where_nothing_was_noted);
    tcase_add_test(tcase, what_gives_way_is_begun_anew);
    tcase_add_test(
        tcase, the_way_is_the_usually_faster_one_not_the_one_with_the_fastest_message);
    tcase_add_test(tcase, trials_end_when_the_way_is_clear);
    tcase_add_test(tcase, what_no_cache_holds_comes_directly);
    return run_tcase("pace", tcase);
}
