/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sleeping until somebody wakes one, in the one way that everybody does it: announce
 * it, look once more, sleep. For how long one looks before, patience.h says. Any
 * process and thread.
 *
 * No wake-up is lost. Whoever brings what is waited for stores it first and then looks
 * whether somebody sleeps; the waiter announces first and then looks for it. There are
 * two kinds of announcement:
 *
 * - A parking word is odd while somebody sleeps on it or is about to. Who brings has a
 *   seq_cst store or fence between what it brings and its look at the word
 *   (bcs_park_is_announced, bcs_park_end, bcs_park_wake); the announcement is seq_cst,
 *   with a fence behind it. So in the one order of these operations either the look
 *   comes later, sees the odd word and ends the parking, or the announcement does, and
 *   the waiter's last look finds what was brought. To end a parking makes a new value:
 *   the kernel, which compares before it sleeps, lets nobody sleep who has announced
 *   before, even when others announce themselves in between.
 *
 * - A bell is an event, a count that only grows (struct bcs_event). To announce is to
 *   read it (acquire). Who brings stores first and then adds (release): either before
 *   the reading, and the look that follows finds it, or after, and the count is not the
 *   one that the sleeper has read. How few system calls a ring costs is told in
 *   libbcs/fabric/transport/event_word.c.
 */
#ifndef LIBBCS_FABRIC_BASE_PARK_H
#define LIBBCS_FABRIC_BASE_PARK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * Sleep while the 32 bits at `word` are `value`: the kernel compares, and wakes by
 * bcs_word_wake. May return early, too.
 *
 * @param until_ns  on the clock of bcs_clock_now_ns; 0: no limit
 * @return whether the time has come
 */
bool bcs_word_sleep(const void *word, uint32_t value, uint64_t until_ns);

/** Sleep for some time, since nobody wakes who waits for this: it looks again and
 *  again. May return early, too. */
void bcs_rest(uint64_t n_ns);

/** Wake all who sleep on a word. One system call. */
void bcs_word_wake(const void *word);

/**
 * Make a parking word odd (seq_cst). Look once more for work, then sleep or end the
 * parking.
 *
 * @param is_first_out  whether nobody had announced himself before; may be NULL
 * @return the value to sleep on
 */
uint32_t bcs_park_announce(_Atomic uint32_t *park, bool *is_first_out);

/** Whether a parking has been announced and not ended (seq_cst, partner of both). */
static inline bool bcs_park_is_announced(const _Atomic uint32_t *park)
{
    return atomic_load_explicit(park, memory_order_seq_cst) % 2 != 0;
}

/** Sleep until the parking is ended; at once if it has been since the announcement.
 *  Otherwise as bcs_word_sleep. */
void bcs_park_sleep(_Atomic uint32_t *park, uint32_t announced, uint64_t until_ns);

/** End a parking without waking anybody. @return whether there was one */
static inline bool bcs_park_end(_Atomic uint32_t *park)
{
    /* seq_cst: partner of bcs_park_announce */
    uint32_t value = atomic_load_explicit(park, memory_order_seq_cst);

    return value % 2 != 0 &&
           atomic_compare_exchange_strong_explicit(
               park, &value, value + 1, memory_order_seq_cst, memory_order_relaxed);
}

/** End a parking and wake all who sleep on it. A seq_cst store or fence must stand
 *  between what they are to find and this call. @return whether there was one */
bool bcs_park_wake(_Atomic uint32_t *park);

#endif
