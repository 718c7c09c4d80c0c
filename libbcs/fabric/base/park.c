/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parking, by the table of system.h; see park.h for the argument. Runs in any process
 * and thread.
 */
#include "libbcs/fabric/base/park.h"

#include <stddef.h>

#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/base/system.h"

bool bcs_word_sleep(const void *word, uint32_t value, uint64_t until_ns)
{
    return bcs_system()->sleep(word, value, until_ns);
}

void bcs_rest(uint64_t n_ns)
{
    const uint32_t nobody = 0;

    bcs_word_sleep(&nobody, nobody, bcs_clock_now_ns() + n_ns);
}

void bcs_word_wake(const void *word)
{
    bcs_system()->wake(word);
}

uint32_t bcs_park_announce(_Atomic uint32_t *park, bool *is_first_out)
{
    /* seq_cst: partner of the load in bcs_park_end */
    uint32_t before = atomic_fetch_or_explicit(park, 1, memory_order_seq_cst);

    atomic_thread_fence(memory_order_seq_cst); /* work is looked for with acquire */
    if (is_first_out != NULL) {
        *is_first_out = before % 2 == 0;
    }
    return before | 1;
}

void bcs_park_sleep(_Atomic uint32_t *park, uint32_t announced, uint64_t until_ns)
{
    if (atomic_load_explicit(park, memory_order_seq_cst) == announced) {
        bcs_word_sleep(park, announced, until_ns);
    }
}

bool bcs_park_wake(_Atomic uint32_t *park)
{
    if (!bcs_park_end(park)) {
        return false;
    }
    bcs_word_wake(park);
    return true;
}
