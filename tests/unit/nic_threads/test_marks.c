/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sets of partners: a look finds all members in their order, and no others; and who has
 * announced itself is put into such a set.
 */
#include "nic_threads/node/marks.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "nic_threads/machine/announce.h"
#include "tests/unit/run_suite.h"

enum { N = 10000, N_WORDS = N / 64 + 1, N_GROUPS = N_WORDS / 64 + 1 };

static _Atomic uint64_t words[N_WORDS], groups[N_GROUPS];
static const struct nic_marks marks = {words, groups};
static bool is_in[N];

static void begin(void)
{
    memset((void *)words, 0, sizeof(words));
    memset((void *)groups, 0, sizeof(groups));
    memset(is_in, 0, sizeof(is_in));
}

static void put_in(uint32_t i)
{
    nic_marks_set(&marks, i);
    is_in[i] = true;
}

static void take_out(uint32_t i)
{
    nic_marks_clear(&marks, i);
    is_in[i] = false;
}

/** A look from a number on, and before another one, finds what it has to. */
static void expect_members(uint32_t from, uint32_t end)
{
    for (uint32_t i = from; i < end; i++) {
        uint32_t next = nic_marks_next(&marks, i, end), expected = i;

        while (expected < end && !is_in[expected]) {
            expected++;
        }
        ck_assert_uint_eq(next, expected);
        i = next;
    }
}

static const uint32_t borders[] = {0,    1,    63,   64,   65,   4095,
                                   4096, 4097, 8191, 8192, N - 1};
enum { N_BORDERS = sizeof(borders) / sizeof(borders[0]) };

START_TEST(a_look_finds_what_is_at_the_borders)
{
    for (int i = 0; i < N_BORDERS; i++) {
        for (int j = 0; j < N_BORDERS; j++) {
            begin();
            put_in(borders[i]);
            put_in(borders[j]);
            expect_members(0, N);
            expect_members(borders[i], borders[j]);
            expect_members(borders[i] + 1, borders[j] > 0 ? borders[j] - 1 : 0);
            expect_members(borders[i] + 1, N);
            take_out(borders[i]);
            expect_members(0, N);
        }
    }
}
END_TEST

START_TEST(a_look_finds_all_members_of_any_set)
{
    srand(1);
    for (int round = 0; round < 40; round++) {
        begin();
        for (int n = rand() % 200; n > 0; n--) {
            uint32_t i = (uint32_t)rand() % N;

            put_in(i);
            put_in(i / 64 * 64 + (uint32_t)rand() % 16); /* others of its word */
            if (rand() % 3 == 0) {
                take_out(i);
            }
        }
        expect_members(0, N);
        for (uint32_t i = 0; i < N; i++) {
            ck_assert(nic_marks_has(&marks, i) == is_in[i]);
        }
    }
}
END_TEST

START_TEST(what_is_empty_again_has_no_group)
{
    put_in(5);
    put_in(6);
    put_in(5000);
    take_out(5);
    ck_assert_uint_ne(groups[0], 0);
    take_out(6);
    take_out(5000);
    for (int i = 0; i < N_GROUPS; i++) {
        ck_assert_uint_eq(groups[i], 0);
    }
}
END_TEST

START_TEST(who_has_announced_itself_is_put_into_the_set)
{
    static uint8_t each[N], of_groups[N_WORDS];
    const struct nic_announced announced = {each, of_groups};
    static const uint32_t numbers[] = {0, 63, 64, 127, 4096, N - 1};

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        each[numbers[i]] = 1;
        of_groups[numbers[i] / NIC_ANNOUNCED_GROUP] = 1;
        is_in[numbers[i]] = true;
    }
    each[200] = 1; /* its group's byte is on its way */
    nic_announced_take(&announced, N, &marks);
    expect_members(0, N);
    nic_announced_take(&announced, 64, &marks); /* nothing is lost */
    expect_members(0, N);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("marks");

    tcase_add_checked_fixture(tcase, begin, NULL);
    tcase_add_test(tcase, a_look_finds_what_is_at_the_borders);
    tcase_add_test(tcase, a_look_finds_all_members_of_any_set);
    tcase_add_test(tcase, what_is_empty_again_has_no_group);
    tcase_add_test(tcase, who_has_announced_itself_is_put_into_the_set);
    return run_tcase("marks", tcase);
}
