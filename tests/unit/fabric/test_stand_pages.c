/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of waits for more operations than a record has room for: what is listed, on
 * which page, and that a page which turns is no other wait.
 */
#include <check.h>
#include <stdlib.h>

#include "libbcs/fabric/ring/stand.h"
#include "tests/unit/run_suite.h"

enum { N_MANY = 200 /* ranks */ };

/** A record that lists what the wait is about, on some page. */
static struct bcs_stand *list_new(bool needs_all)
{
    struct bcs_stand *stand = calloc(bcs_stand_words(N_MANY), sizeof(uint64_t));

    stand->needs_all = needs_all;
    return stand;
}

static void list(struct bcs_stand *stand, uint32_t page, int32_t peer, int32_t tag)
{
    bcs_stand_list(stand, N_MANY, page,
                   &(struct bcs_stand_operation){
                       .kind = BCS_STAND_RECEIVE, .peer = peer, .tag = tag});
}

/** List some of one partner, with ascending tags. */
static void list_some(struct bcs_stand *stand, uint32_t page, int32_t peer, int32_t n)
{
    for (int32_t tag = 0; tag < n; tag++) {
        list(stand, page, peer, tag);
    }
}

static void expect_one(const struct bcs_stand *stand, uint32_t number, int32_t peer,
                       int32_t tag)
{
    ck_assert_int_eq(stand->operations[number].peer, peer);
    ck_assert_int_eq(stand->operations[number].tag, tag);
}

START_TEST(beyond_the_first_page_each_partner_is_listed_once)
{
    for (uint32_t page = 0; page < 3; page++) {
        struct bcs_stand *stand = list_new(true);

        list_some(stand, page, 5, BCS_STAND_OPERATIONS + 1);
        ck_assert_uint_eq(bcs_stand_n_pages(stand), 1);
        ck_assert_uint_eq(bcs_stand_n_listed(stand), BCS_STAND_OPERATIONS);
        list(stand, page, 1, 7);
        list(stand, page, -1, 8); /* anybody's */
        list(stand, page, 1, 9);
        list(stand, page, -1, 10);
        list(stand, page, N_MANY - 1, 11);
        ck_assert_uint_eq(stand->n_operations, BCS_STAND_OPERATIONS + 6);
        ck_assert_uint_eq(stand->n_listed, BCS_STAND_OPERATIONS + 3);
        ck_assert_uint_eq(bcs_stand_n_pages(stand), 2);
        if (page == 1) {
            ck_assert_uint_eq(stand->first, BCS_STAND_OPERATIONS);
            ck_assert_uint_eq(bcs_stand_n_listed(stand), 3);
            expect_one(stand, 0, 1, 7);
            expect_one(stand, 1, -1, 8);
            expect_one(stand, 2, N_MANY - 1, 11);
        } else { /* there is no third one */
            ck_assert_uint_eq(stand->first, 0);
            expect_one(stand, 0, 5, 0);
            expect_one(stand, BCS_STAND_OPERATIONS - 1, 5, BCS_STAND_OPERATIONS - 1);
        }
        free(stand);
    }
}
END_TEST

START_TEST(a_wait_for_any_lists_all)
{
    struct bcs_stand *stand = list_new(false);

    list_some(stand, 2, 5, 2 * BCS_STAND_OPERATIONS + 3);
    ck_assert_uint_eq(stand->n_listed, 2 * BCS_STAND_OPERATIONS + 3);
    ck_assert_uint_eq(bcs_stand_n_pages(stand), 3);
    ck_assert_uint_eq(stand->first, 2 * BCS_STAND_OPERATIONS);
    ck_assert_uint_eq(bcs_stand_n_listed(stand), 3);
    expect_one(stand, 2, 5, 2 * BCS_STAND_OPERATIONS + 2);
    free(stand);
}
END_TEST

START_TEST(what_is_neither_send_nor_receive_is_noted)
{
    struct bcs_stand *stand = list_new(true);

    list(stand, 0, 3, 1);
    ck_assert(!stand->has_unknown && !stand->has_any);
    bcs_stand_list(
        stand, N_MANY, 0,
        &(struct bcs_stand_operation){.kind = BCS_STAND_FOREIGN, .peer = -1});
    ck_assert(stand->has_unknown && !stand->has_any);
    list(stand, 0, -1, 1);
    ck_assert(stand->has_any);
    ck_assert_uint_eq(bcs_stand_set(stand, BCS_STAND_PARTNERS, N_MANY)[0], 1u << 3);
    free(stand);
}
END_TEST

START_TEST(a_page_is_turned_only_if_all_else_is_the_same)
{
    struct bcs_stand *one = list_new(false), *other = list_new(false);
    struct bcs_stand_slot *slot = calloc(1, bcs_stands_bytes(N_MANY));
    uint64_t sequence, later;

    list_some(one, 0, 5, BCS_STAND_OPERATIONS + 1);
    list_some(other, 0, 5, BCS_STAND_OPERATIONS + 1);
    one->is_waiting = other->is_waiting = 1;
    ck_assert(!bcs_stand_is_turned(one, other, N_MANY)); /* it is the same page */
    other->first = BCS_STAND_OPERATIONS;
    ck_assert(bcs_stand_is_turned(one, other, N_MANY));
    bcs_stand_write(slot, one, N_MANY);
    ck_assert_int_eq(bcs_stand_read(slot, N_MANY, one, &sequence), 0);
    bcs_stand_turn(slot, other, N_MANY);
    ck_assert_int_eq(bcs_stand_read(slot, N_MANY, one, &later), 0);
    ck_assert_uint_eq(one->first, BCS_STAND_OPERATIONS);
    ck_assert_uint_ne(sequence, later);
    ck_assert_uint_eq(bcs_stand_wait_of(sequence), bcs_stand_wait_of(later));
    one->first = 0;
    bcs_stand_mark(one, BCS_STAND_NEEDED, N_MANY - 1, N_MANY);
    ck_assert(!bcs_stand_is_turned(one, other, N_MANY));
    bcs_stand_mark(other, BCS_STAND_NEEDED, N_MANY - 1, N_MANY);
    one->n_operations++;
    ck_assert(!bcs_stand_is_turned(one, other, N_MANY));
    free(slot);
    free(other);
    free(one);
}
END_TEST

START_TEST(what_collectives_need_has_pages_of_its_own)
{
    struct bcs_stand *stand = list_new(true);

    list(stand, 1, 5, 1);
    for (int32_t i = 0; i <= BCS_STAND_PLANS; i++) {
        bcs_stand_list_plan(stand, N_MANY, 1,
                            &(struct bcs_stand_operation){.peer = 100 + i});
    }
    ck_assert_uint_eq(bcs_stand_n_pages(stand), 2);
    ck_assert_uint_eq(bcs_stand_n_plans(stand), 1);
    ck_assert_uint_eq(stand->first_plan, BCS_STAND_PLANS);
    ck_assert_int_eq(stand->plans[0].peer, 100 + BCS_STAND_PLANS);
    ck_assert_uint_eq(stand->first, 0);
    expect_one(stand, 0, 5, 1);
    ck_assert_uint_eq(bcs_stand_set(stand, BCS_STAND_NEEDED, N_MANY)[1],
                      ((UINT64_C(2) << BCS_STAND_PLANS) - 1) << (100 - 64));
    free(stand);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("stand_pages");

    tcase_add_test(tcase, beyond_the_first_page_each_partner_is_listed_once);
    tcase_add_test(tcase, a_wait_for_any_lists_all);
    tcase_add_test(tcase, what_is_neither_send_nor_receive_is_noted);
    tcase_add_test(tcase, a_page_is_turned_only_if_all_else_is_the_same);
    tcase_add_test(tcase, what_collectives_need_has_pages_of_its_own);
    return run_tcase("stand_pages", tcase);
}
