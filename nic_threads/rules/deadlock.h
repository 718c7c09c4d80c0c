/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which ranks can never go on: a question about sets, with no memory or clock in it.
 * Any process and thread.
 *
 * A wait is hopeless if whoever could release it can never act again: of those that
 * must all act, one cannot; or of those of whom one suffices, none can. A rank can
 * never act again when it has ended, or when each of its threads is in a wait that is
 * hopeless. The deadlocked ranks are the largest set with this property. It is found
 * from above: all that wait are suspected, and whoever could be released by somebody
 * who is not suspected is cleared, until nobody is cleared any more.
 *
 * What remains is deadlocked: suppose that some of its waits end, and take the one that
 * ends first. Somebody has released it who can act: a rank that is not in the set. But
 * then it would have been cleared. And who has been cleared is not proved to be stuck:
 * each of those that were cleared before could act, and release it. [AND-OR model of
 * resource deadlocks]
 */
#ifndef NIC_THREADS_RULES_DEADLOCK_H
#define NIC_THREADS_RULES_DEADLOCK_H

#include <stdbool.h>
#include <stdint.h>

/** A thread's wait. Sets of ranks are bits, as many words as nic_deadlock_words
 *  says. */
struct nic_deadlock_wait {
    const uint64_t
        *all; /* ranks of whom each must act before the wait can end; NULL: none */
    const uint64_t
        *any; /* ranks of whom one must; empty: nobody can end it; NULL: none needed */
};

/** A rank. */
struct nic_deadlock_rank {
    const struct nic_deadlock_wait *waits; /* [n_waits], of its threads */
    uint32_t n_waits;
    bool can_act; /* whatever its waits are: some thread of it does not wait */
};

/** Words of a set of ranks. */
static inline uint32_t nic_deadlock_words(uint32_t n_ranks)
{
    return (n_ranks + 63) / 64;
}

/** Whether a rank is in a set. */
static inline bool nic_deadlock_has(const uint64_t *set, uint32_t rank)
{
    return (set[rank / 64] >> rank % 64 & 1) != 0;
}

/** Whether a wait cannot end if these ranks never act again. */
bool nic_deadlock_is_hopeless(const struct nic_deadlock_wait *wait,
                              const uint64_t *stuck, uint32_t n_words);

/**
 * Find the ranks that can never act again.
 *
 * @param ranks      [n_ranks]; one without waits that cannot act has ended
 * @param stuck_out  the set, those that have ended with it
 * @return how many of them wait
 */
uint32_t nic_deadlock_find(const struct nic_deadlock_rank *ranks, uint32_t n_ranks,
                           uint64_t *stuck_out);

#endif
