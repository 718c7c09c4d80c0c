/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which way payloads are copied into blocks, by how long others took, and that either
 * way copies what it should and no more.
 */
#include <check.h>
#include <stdint.h>
#include <string.h>

#include "libbcs/api/context/payload_copy.h"
#include "libbcs/fabric/base/copy_past.h"
#include "tests/unit/run_suite.h"

enum { N_BYTES = 8192, SETTLED = 100, MANY = 100000, LINE = 64, GUARD = 0x5a };

/** A pair of cores. */
struct cores {
    uint64_t through, past; /* ticks of a copy, to the sender */
};

static const struct cores near = {.through = 1567, .past = 447};
static const struct cores far = {.through = 7028, .past = 429};

/** Have so many messages sent. @return how many were copied past the caches */
static int send(struct bcs_payload_copy *copy, const struct cores *cores, int n)
{
    int n_past = 0;

    for (int i = 0; i < n; i++) {
        struct bcs_payload_copy_turn turn = bcs_payload_copy_turn(copy);

        n_past += turn.goes_past;
        if (turn.is_timed) {
            bcs_payload_copy_note(copy, turn, N_BYTES,
                                  turn.goes_past ? cores->past : cores->through);
        }
    }
    return n_past;
}

/** Have many messages sent, once it is known how. @return how many were copied past the
 *  caches */
static int send_many(const struct cores *cores)
{
    struct bcs_payload_copy copy = {0};

    send(&copy, cores, SETTLED);
    return send(&copy, cores, MANY);
}

/** How many of MANY may go the way that is not theirs: trials grow rarer. */
enum { ASTRAY = 8 * 12 };

START_TEST(few_messages_go_through_the_caches)
{
    struct bcs_payload_copy copy = {0};

    ck_assert_int_eq(send(&copy, &far, 8), 0);
}
END_TEST

START_TEST(near_cores_have_theirs_through_the_caches)
{
    int n = send_many(&near);

    ck_assert_int_le(n, ASTRAY);
    ck_assert_int_gt(n, BCS_CAN_COPY_PAST ? 0 : -1); /* the other one is tried, too */
}
END_TEST

START_TEST(far_cores_have_theirs_past_them)
{
    int n = send_many(&far);

    ck_assert_int_ge(n, BCS_CAN_COPY_PAST ? MANY - ASTRAY : 0);
    ck_assert_int_lt(n, MANY);
}
END_TEST

START_TEST(a_change_of_cores_is_found)
{
    struct bcs_payload_copy copy = {0};

    for (int i = 0; i < 3; i++) {
        send(&copy, &near, MANY);
        ck_assert_int_le(send(&copy, &near, MANY), ASTRAY);
        send(&copy, &far, MANY);
        ck_assert_int_ge(send(&copy, &far, MANY),
                         BCS_CAN_COPY_PAST ? MANY - ASTRAY : 0);
    }
}
END_TEST

START_TEST(a_copy_that_was_held_up_changes_nothing)
{
    struct bcs_payload_copy copy = {0};

    for (int i = 0; i < 1000; i++) { /* of a trial's copies some are, of either way */
        struct bcs_payload_copy_turn turn = bcs_payload_copy_turn(&copy);

        if (turn.is_timed) {
            bcs_payload_copy_note(&copy, turn, N_BYTES,
                                  (turn.goes_past ? near.past : near.through) *
                                      (i % 2 == 0 ? 1000 : 1));
        }
    }
    ck_assert_int_le(send(&copy, &near, SETTLED), 8);
}
END_TEST

START_TEST(a_way_of_which_nothing_is_known_is_not_taken)
{
    struct bcs_payload_copy copy = {0};
    int n_past = 0;

    for (int i = 0; i < SETTLED; i++) {
        struct bcs_payload_copy_turn turn = bcs_payload_copy_turn(&copy);

        n_past += turn.goes_past;
        if (turn.is_timed && !turn.goes_past) {
            bcs_payload_copy_note(&copy, turn, N_BYTES, far.through);
        }
    }
    ck_assert_int_le(n_past, 8);
}
END_TEST

START_TEST(lengths_have_their_places)
{
    static const struct {
        size_t n_bytes;
        uint32_t index;
    } lengths[] = {{4096, 0},  {8191, 0},  {8192, 1},  {16383, 1},   {16384, 2},
                   {32768, 3}, {65535, 3}, {65536, 4}, {1 << 20, 4}, {SIZE_MAX, 4}};

    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        ck_assert_uint_eq(bcs_payload_copy_index(lengths[i].n_bytes), lengths[i].index);
    }
}
END_TEST

START_TEST(all_bytes_are_copied_and_no_others)
{
    static _Alignas(LINE) uint8_t from[8 * LINE], to[8 * LINE];

    for (size_t i = 0; i < sizeof(from); i++) {
        from[i] = (uint8_t)(i * 7 + i / 256);
    }
    for (size_t start = 0; start < LINE; start++) {
        for (size_t n = 0; n <= 4 * LINE; n++) {
            size_t source = (start * 5 + n) % LINE;

            memset(to, GUARD, sizeof(to));
            bcs_copy_past(to + LINE + start, from + source, n);
            ck_assert_mem_eq(to + LINE + start, from + source, n);
            for (size_t i = 0; i < LINE + start; i++) {
                ck_assert_uint_eq(to[i], GUARD);
            }
            for (size_t i = LINE + start + n; i < sizeof(to); i++) {
                ck_assert_uint_eq(to[i], GUARD);
            }
        }
    }
}
END_TEST

START_TEST(either_way_copies_what_it_should)
{
    static uint8_t from[N_BYTES], to[N_BYTES];
    struct bcs_payload_copy copy = {0};

    for (int i = 0; i < 4 * SETTLED; i++) {
        struct bcs_payload_copy_turn turn = bcs_payload_copy_turn(&copy);

        memset(from, i + 1, sizeof(from));
        bcs_payload_copy(&copy, turn, to, from, sizeof(to));
        ck_assert_mem_eq(to, from, sizeof(to));
    }
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("payload_copy");

    tcase_add_test(tcase, few_messages_go_through_the_caches);
    tcase_add_test(tcase, near_cores_have_theirs_through_the_caches);
    tcase_add_test(tcase, far_cores_have_theirs_past_them);
    tcase_add_test(tcase, a_change_of_cores_is_found);
    tcase_add_test(tcase, a_copy_that_was_held_up_changes_nothing);
    tcase_add_test(tcase, a_way_of_which_nothing_is_known_is_not_taken);
    tcase_add_test(tcase, lengths_have_their_places);
    tcase_add_test(tcase, all_bytes_are_copied_and_no_others);
    tcase_add_test(tcase, either_way_copies_what_it_should);
    return run_tcase("payload_copy", tcase);
}
