/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a direct transfer, while the background thread takes its receiver's cell
 * and lets it go between any two steps of the owner. What is tested is compiled in
 * here, so that this file comes between its compare-and-swaps.
 */
#include <check.h>
#include <stdatomic.h>
#include <stdbool.h>

static void come_between(void);

#undef atomic_compare_exchange_strong_explicit
#define atomic_compare_exchange_strong_explicit(object, expected, wanted, success,     \
                                                failure)                               \
    (come_between(), __atomic_compare_exchange_n((object), (expected), (wanted),       \
                                                 false, (success), (failure)))

#include "libbcs/fabric/ring/pieces.c" // NOLINT
#include "tests/unit/run_suite.h"

enum { GENERATION = 5, N_STEPS = 8 };

static struct bcs_cell cell;
static bool is_closing;
static unsigned int
    changes; /* bit i: before step i of the owner the other changes the cell */
static bool has_awaited;

static bool is_held(void)
{
    return bcs_cell_state(&cell) != BCS_CELL_TRANSFER;
}

/** Hold the cell, or let it go if it is held. */
static void change_holder(void)
{
    if (is_held()) {
        has_awaited |= bcs_transfer_let_go(&cell, GENERATION);
    } else {
        ck_assert(bcs_transfer_hold(&cell, GENERATION));
    }
}

static void come_between(void)
{
    if (is_closing) {
        bool changes_now = changes % 2 != 0;

        changes /= 2;
        is_closing = false; /* what follows is not the owner's */
        if (changes_now) {
            change_holder();
        }
        is_closing = true;
    }
}

/* Or the owner would sleep for ever: who lets go of a cell that is not awaited wakes
 * nobody. */
START_TEST(who_cannot_close_a_cell_is_awaited)
{
    bool is_closed;

    atomic_store(&cell.state, GENERATION << BCS_CELL_STATE_BITS | BCS_CELL_TRANSFER);
    changes = (unsigned int)_i;
    has_awaited = false;
    is_closing = true;
    is_closed = bcs_transfer_close(&cell);
    is_closing = false;
    if (is_closed) {
        ck_assert_int_eq(bcs_cell_state(&cell), BCS_CELL_CLOSING);
        ck_assert(!bcs_transfer_hold(&cell, GENERATION));
    } else {
        ck_assert_int_eq(bcs_cell_state(&cell), BCS_CELL_AWAITED);
        ck_assert(bcs_transfer_let_go(&cell, GENERATION));
        ck_assert(bcs_transfer_close(&cell));
    }
    ck_assert(!has_awaited);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("transfer_close");

    tcase_add_loop_test(tcase, who_cannot_close_a_cell_is_awaited, 0, 1 << N_STEPS);
    return run_tcase("transfer_close", tcase);
}
