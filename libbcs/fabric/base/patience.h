/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a thread waits, look by look: it looks for some time, offers its core to others
 * if need be, and when its patience ends it announces that it will sleep, looks once
 * more, and sleeps (park.h says why no wake-up is lost). All waits of the library go
 * through bcs_spell_next, or bcs_spell_look if they do not announce themselves; what
 * they look at, how they announce themselves and what they sleep on is theirs. Each has
 * a policy of its own, a constant but for the times, so that what it does not use is no
 * code.
 *
 * It spins, at first without pauses if the policy says so, since a pause takes as long
 * as a message between processes that run. It yields, if there are more processes than
 * cores, as the one that is waited for may stand in the queue. Used by the thread that
 * waits; inlined, as a look takes some nanoseconds.
 *
 * Who does not use it: a wait for a lock (libbcs/fabric/transport/shm/node_lock.c),
 * which is held for less than a wake-up takes; the strobe timer, which polls the clock
 * for a time that is known (nic_threads/service/strobe_timer.c); the threads of the
 * service, which sleep at once (nic_threads/service/service_thread.c); the meeting,
 * where the launcher's library waits; the first looks of a near collective
 * (libbcs/api/collective/near_collective.c), which then takes turns as all do; a wait
 * for room in a ring with the driver `inline` (nic_threads/drivers/driver_inline.c),
 * which turns the reader's desk, so that it does not sleep.
 */
#ifndef LIBBCS_FABRIC_BASE_PATIENCE_H
#define LIBBCS_FABRIC_BASE_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "libbcs/fabric/base/clock.h"

/** The policy of a wait. A halt is a look after which it decides anew. */
struct bcs_patience {
    uint32_t n_at_once;   /* the first looks, without a pause */
    uint32_t n_first;     /* looks without a halt at the beginning */
    uint32_t n_a_halt;    /* then one of so many looks is a halt */
    uint32_t n_yields;    /* at least, before it sleeps */
    uint64_t yield_ticks; /* from when on it yields at each halt */
    uint64_t sleep_ticks; /* after how long it sleeps */
};

/** Never, of the times of a policy. */
#define BCS_PATIENCE_ENDLESS UINT64_MAX

/** A wait in progress; zero it to start, or to start anew. */
struct bcs_spell {
    uint64_t since_ticks; /* when it began, from the first halt on */
    uint32_t n_looks;
    uint32_t n_yields;
    bool is_announced; /* it sleeps next */
};

/** What to do after a look in vain, before the next one. */
enum bcs_wait_step {
    BCS_WAIT_LOOK,     /* nothing: it has paused */
    BCS_WAIT_HALT,     /* nothing; what changes slowly may be looked at, too */
    BCS_WAIT_YIELD,    /* bcs_yield */
    BCS_WAIT_ANNOUNCE, /* announce that it will sleep */
    BCS_WAIT_SLEEP,    /* sleep, unless there was a wake-up since the announcement */
};

/** Ticks that a wait has lasted, from the first call on. */
static inline uint64_t bcs_spell_ticks(struct bcs_spell *spell)
{
    uint64_t now = bcs_clock_ticks();

    if (spell->since_ticks == 0) {
        spell->since_ticks = now;
    }
    return now - spell->since_ticks;
}

/** bcs_spell_next of a wait that is not announced. */
static inline __attribute__((always_inline)) enum bcs_wait_step
bcs_spell_look(struct bcs_spell *spell, const struct bcs_patience *patience)
{
    uint32_t n_looks = ++spell->n_looks;
    bool is_halt = n_looks % patience->n_a_halt == 0 &&
                   (patience->n_first == 0 || n_looks > patience->n_first);
    uint64_t ticks;

    if (__builtin_expect(!is_halt, 1)) {
        if (n_looks > patience->n_at_once) {
            bcs_clock_pause();
        }
        return BCS_WAIT_LOOK;
    }
    ticks = bcs_spell_ticks(spell);
    if (ticks > patience->sleep_ticks && spell->n_yields >= patience->n_yields) {
        spell->is_announced = true;
        return BCS_WAIT_ANNOUNCE;
    }
    if (ticks >= patience->yield_ticks) {
        spell->n_yields++;
        return BCS_WAIT_YIELD;
    }
    return BCS_WAIT_HALT;
}

/** A look has found nothing. @return what to do; from BCS_WAIT_ANNOUNCE on it is
 *  BCS_WAIT_SLEEP, until the spell is changed */
static inline __attribute__((always_inline)) enum bcs_wait_step
bcs_spell_next(struct bcs_spell *spell, const struct bcs_patience *patience)
{
    return spell->is_announced ? BCS_WAIT_SLEEP : bcs_spell_look(spell, patience);
}

#endif
