/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The list of desk checks: each is kept once, however often it is gathered, and what
 * has come of it is found again.
 */
#include "nic_threads/referee/check_list.h"

#include <check.h>

#include "tests/unit/run_suite.h"

enum { N = 1000, TIMES = 7 };

/** A check by its number; each differs from the others in one word. */
static struct nic_desk_check check_of(uint32_t i)
{
    return (struct nic_desk_check){
        .kind = NIC_CHECK_MISSING,
        .port = i % 10,
        .at = i / 10 % 10,
        .place = i / 100,
        .number = i % 3,
    };
}

/** Gather all checks, some times. */
static void gather(struct nic_check_list *list)
{
    for (uint32_t i = 0; i < N * TIMES; i++) {
        const struct nic_desk_check check = check_of(i * 7 % N);

        nic_check_list_add(list, &check);
    }
    nic_check_list_settle(list);
}

START_TEST(each_check_is_kept_once)
{
    struct nic_check_list list = {0};

    gather(&list);
    ck_assert_uint_eq(list.n, N);
    ck_assert_uint_le(list.n_room, 4 * N);
    ck_assert(!list.has_lost);
    nic_check_list_fini(&list);
}
END_TEST

START_TEST(what_holds_is_found_again)
{
    struct nic_check_list list = {0};

    gather(&list);
    for (size_t i = 0; i < list.n; i++) {
        ck_assert(!list.entries[i].holds);
        list.entries[i].holds = list.entries[i].check.place == 4;
    }
    for (uint32_t i = 0; i < N; i++) {
        const struct nic_desk_check check = check_of(i);

        ck_assert_int_eq(nic_check_list_holds(&list, &check), i / 100 == 4);
    }
    nic_check_list_fini(&list);
}
END_TEST

START_TEST(what_was_not_asked_does_not_hold)
{
    struct nic_check_list list = {0};
    struct nic_desk_check other = check_of(0);

    ck_assert(!nic_check_list_holds(&list, &other));
    gather(&list);
    for (size_t i = 0; i < list.n; i++) {
        list.entries[i].holds = true;
    }
    ck_assert(nic_check_list_holds(&list, &other));
    other.kind = NIC_CHECK_SEND;
    ck_assert(!nic_check_list_holds(&list, &other));
    nic_check_list_clear(&list);
    other = check_of(0);
    ck_assert(!nic_check_list_holds(&list, &other));
    nic_check_list_fini(&list);
}
END_TEST

START_TEST(the_checks_of_a_desk_follow_each_other)
{
    struct nic_check_list list = {0};

    gather(&list);
    for (size_t i = 1; i < list.n; i++) {
        ck_assert_uint_le(list.entries[i - 1].check.at, list.entries[i].check.at);
    }
    nic_check_list_fini(&list);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("check_list");

    tcase_add_test(tcase, each_check_is_kept_once);
    tcase_add_test(tcase, what_holds_is_found_again);
    tcase_add_test(tcase, what_was_not_asked_does_not_hold);
    tcase_add_test(tcase, the_checks_of_a_desk_follow_each_other);
    return run_tcase("check_list", tcase);
}
