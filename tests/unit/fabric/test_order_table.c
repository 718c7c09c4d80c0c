/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order table: whoever gives orders, its owner learns of all of them, also of those
 * that were counted before they were written, and of those that were overwritten.
 */
#include "libbcs/fabric/ring/order_table.h"

#include <check.h>
#include <pthread.h>

#include "tests/unit/run_suite.h"

enum { SIZE = 4, N_GIVERS = 3, N_ORDERS = 100000 };

static _Atomic uint64_t entries[SIZE];
static _Atomic uint32_t n_orders;
static const struct bcs_order_table table = {entries, SIZE - 1};

static void setup(void)
{
    for (int i = 0; i < SIZE; i++) {
        atomic_store(&entries[i], 0);
    }
    atomic_store(&n_orders, 0);
}

START_TEST(orders_are_found_in_the_order_in_which_they_were_given)
{
    uint32_t cell;

    for (uint32_t i = 0; i < SIZE; i++) {
        bcs_order_give(&n_orders, &table, 10 + i);
    }
    for (uint32_t i = 0; i < SIZE; i++) {
        ck_assert_int_eq(bcs_order_find(&table, i, &cell), BCS_ORDER_IS_HERE);
        ck_assert_uint_eq(cell, 10 + i);
    }
    ck_assert_int_eq(bcs_order_find(&table, SIZE, &cell), BCS_ORDER_COMES);
    bcs_order_give(&n_orders, &table, 20);
    ck_assert_int_eq(bcs_order_find(&table, 0, &cell), BCS_ORDER_IS_LOST);
    ck_assert_int_eq(bcs_order_find(&table, SIZE, &cell), BCS_ORDER_IS_HERE);
}
END_TEST

/* A giver has counted, and others go round the table before it writes. */
START_TEST(a_late_order_does_not_hide_a_later_one)
{
    uint32_t cell;

    bcs_order_give(&n_orders, &table, 1);
    atomic_fetch_add(&n_orders, SIZE - 1);
    bcs_order_give(&n_orders, &table, 2); /* order SIZE */
    atomic_store(&n_orders, 0);
    bcs_order_give(&n_orders, &table, 3); /* order 0, late */
    ck_assert_int_eq(bcs_order_find(&table, SIZE, &cell), BCS_ORDER_IS_HERE);
    ck_assert_uint_eq(cell, 2);
    ck_assert_int_eq(bcs_order_find(&table, 0, &cell), BCS_ORDER_IS_LOST);
}
END_TEST

START_TEST(the_count_may_wrap_around)
{
    uint32_t cell, first = UINT32_MAX - 1;

    for (int i = 0; i < SIZE; i++) { /* as after all the orders before */
        atomic_store(&entries[(first - SIZE + (uint32_t)i) % SIZE],
                     (uint64_t)(first - SIZE + (uint32_t)i + 1) << 32);
    }
    atomic_store(&n_orders, first);
    for (uint32_t i = 0; i < SIZE; i++) {
        ck_assert_int_eq(bcs_order_find(&table, first + i, &cell), BCS_ORDER_COMES);
        bcs_order_give(&n_orders, &table, i);
        ck_assert_int_eq(bcs_order_find(&table, first + i, &cell), BCS_ORDER_IS_HERE);
        ck_assert_uint_eq(cell, i);
    }
}
END_TEST

static void *give(void *cell)
{
    for (int i = 0; i < N_ORDERS; i++) {
        bcs_order_give(&n_orders, &table, *(uint32_t *)cell);
    }
    return NULL;
}

/* The owner goes on as bcs_orders_take does. */
START_TEST(no_order_is_missed_beside_several_givers)
{
    uint32_t at = 0, cell, cells[N_GIVERS];
    pthread_t threads[N_GIVERS];

    for (uint32_t i = 0; i < N_GIVERS; i++) {
        cells[i] = i;
        ck_assert_int_eq(pthread_create(&threads[i], NULL, give, &cells[i]), 0);
    }
    while (at != N_GIVERS * N_ORDERS) {
        uint32_t n = atomic_load(&n_orders);
        enum bcs_order_state state = BCS_ORDER_IS_HERE;

        while (at != n &&
               (state = bcs_order_find(&table, at, &cell)) == BCS_ORDER_IS_HERE) {
            ck_assert_uint_lt(cell, N_GIVERS);
            at++;
        }
        at = state == BCS_ORDER_IS_LOST ? n : at;
    }
    for (int i = 0; i < N_GIVERS; i++) {
        pthread_join(threads[i], NULL);
    }
    ck_assert_int_eq(bcs_order_find(&table, at, &cell), BCS_ORDER_COMES);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("order_table");

    tcase_add_checked_fixture(tcase, setup, NULL);
    tcase_add_test(tcase, orders_are_found_in_the_order_in_which_they_were_given);
    tcase_add_test(tcase, a_late_order_does_not_hide_a_later_one);
    tcase_add_test(tcase, the_count_may_wrap_around);
    tcase_add_test(tcase, no_order_is_missed_beside_several_givers);
    return run_tcase("order_table", tcase);
}
