/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The largest set of ranks that wait for each other; see deadlock.h.
 */
#include "nic_threads/rules/deadlock.h"

#include <stddef.h>
#include <string.h>

static bool intersects(const uint64_t *set, const uint64_t *other, uint32_t n_words)
{
    for (uint32_t i = 0; i < n_words; i++) {
        if ((set[i] & other[i]) != 0) {
            return true;
        }
    }
    return false;
}

static bool is_within(const uint64_t *set, const uint64_t *other, uint32_t n_words)
{
    for (uint32_t i = 0; i < n_words; i++) {
        if ((set[i] & ~other[i]) != 0) {
            return false;
        }
    }
    return true;
}

bool nic_deadlock_is_hopeless(const struct nic_deadlock_wait *wait,
                              const uint64_t *stuck, uint32_t n_words)
{
    return (wait->all != NULL && intersects(wait->all, stuck, n_words)) ||
           (wait->any != NULL && is_within(wait->any, stuck, n_words));
}

/** Whether a rank cannot act if those that are suspected cannot. */
static bool stays_stuck(const struct nic_deadlock_rank *rank, const uint64_t *suspected,
                        uint32_t n_words)
{
    for (uint32_t i = 0; i < rank->n_waits; i++) {
        if (!nic_deadlock_is_hopeless(&rank->waits[i], suspected, n_words)) {
            return false;
        }
    }
    return true;
}

/** Clear those that could be released. @return whether there were any */
static bool clear_some(const struct nic_deadlock_rank *ranks, uint32_t n_ranks,
                       uint64_t *suspected)
{
    bool has_cleared = false;

    for (uint32_t i = 0; i < n_ranks; i++) {
        if (nic_deadlock_has(suspected, i) &&
            !stays_stuck(&ranks[i], suspected, nic_deadlock_words(n_ranks))) {
            suspected[i / 64] &= ~(UINT64_C(1) << i % 64);
            has_cleared = true;
        }
    }
    return has_cleared;
}

uint32_t nic_deadlock_find(const struct nic_deadlock_rank *ranks, uint32_t n_ranks,
                           uint64_t *stuck_out)
{
    uint32_t n_waiting = 0;

    memset(stuck_out, 0, nic_deadlock_words(n_ranks) * sizeof(*stuck_out));
    for (uint32_t i = 0; i < n_ranks; i++) {
        if (!ranks[i].can_act) {
            stuck_out[i / 64] |= UINT64_C(1) << i % 64;
        }
    }
    while (clear_some(ranks, n_ranks, stuck_out)) {
    }
    for (uint32_t i = 0; i < n_ranks; i++) {
        n_waiting += nic_deadlock_has(stuck_out, i) && ranks[i].n_waits > 0;
    }
    return n_waiting;
}
