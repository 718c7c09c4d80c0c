/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a process of a job on the primitives waits: as libbcs/fabric/base/patience.h has
 * it, then asleep on its bell, an event of its own heap that is signalled with whatever
 * is put there. What the caller looks for, and what it does for others between looks,
 * is the caller's. Called by the thread that uses the core.
 *
 * No signal is lost: a wait remembers how often the bell has rung when it announces
 * that it will sleep, the caller looks once more, and the sleep ends at once if the
 * bell has rung since.
 */
#ifndef BCS_SESSION_BELL_H
#define BCS_SESSION_BELL_H

#include <bcs/primitives.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "libbcs/fabric/base/patience.h"
#include "libbcs/session/meeting.h"

enum {
    BCS_BELL_AT_ONCE = 128, /* looks; some hundred nanoseconds */
    BCS_BELL_A_CLOCK = 64,
    BCS_BELL_A_YIELD = 4, /* where the job has more processes than cores */
};

/** The bell of a process; made by who has laid out its heap. */
struct bcs_bell {
    struct bcs_core *core;
    const struct bcs_event *event; /* in the own heap */
    uint64_t gva;
    uint64_t spin_ticks;               /* for how long a wait looks before it sleeps */
    const struct bcs_meeting *meeting; /* knows who else needs the processors, */
    uint32_t n_needs;                  /* of which the job itself needs so many */
    _Atomic bool is_crowded; /* they are too few; looked at by each sleep; relaxed */
};

/** A wait; zero it to start. */
struct bcs_bell_wait {
    struct bcs_spell spell;
    uint64_t n_heard; /* rings until it last announced that it will sleep */
};

/** Find whether a bell's processors are too few. Its meeting stays the caller's. */
void bcs_bell_look_around(struct bcs_bell *bell);

/** Whether they were when somebody last looked. */
static inline bool bcs_bell_is_crowded(const struct bcs_bell *bell)
{
    return atomic_load_explicit(&bell->is_crowded, memory_order_relaxed);
}

/** How often a bell has rung. */
static inline uint64_t bcs_bell_n_rings(const struct bcs_bell *bell)
{
    /* Pairs with the increment of a signal, which follows its data. */
    return __atomic_load_n(&bell->event->count, __ATOMIC_ACQUIRE);
}

/**
 * What to do when a look has found nothing, before the next one: nothing (it has
 * paused), serve others (BCS_WAIT_ANNOUNCE: and look everywhere, since it sleeps next),
 * or bcs_bell_sleep (BCS_WAIT_SLEEP). Inlined, as a look takes some nanoseconds.
 *
 * @param n_early looks without a pause, or a look at the clock, at the beginning, where
 *                 processes have a core each
 */
static inline __attribute__((always_inline)) enum bcs_wait_step
bcs_bell_step_early(const struct bcs_bell *bell, struct bcs_bell_wait *wait,
                    uint32_t n_early)
{
    const struct bcs_patience calm = {
        .n_at_once = n_early,
        .n_first = n_early > BCS_BELL_AT_ONCE ? n_early : 0,
        .n_a_halt = BCS_BELL_A_CLOCK,
        .yield_ticks = BCS_PATIENCE_ENDLESS,
        .sleep_ticks = bell->spin_ticks,
    };
    const struct bcs_patience crowded = {
        .n_at_once = BCS_BELL_AT_ONCE,
        .n_a_halt = BCS_BELL_A_YIELD,
        .sleep_ticks = bell->spin_ticks,
    };
    enum bcs_wait_step step = bcs_bell_is_crowded(bell)
                                  ? bcs_spell_next(&wait->spell, &crowded)
                                  : bcs_spell_next(&wait->spell, &calm);

    if (step == BCS_WAIT_ANNOUNCE) {
        wait->n_heard = bcs_bell_n_rings(bell);
    }
    return step;
}

/** The same, as cBSP waits, whose looks are longer. */
static inline enum bcs_wait_step bcs_bell_step(const struct bcs_bell *bell,
                                               struct bcs_bell_wait *wait)
{
    return bcs_bell_step_early(bell, wait, BCS_BELL_AT_ONCE);
}

/**
 * Sleep until the bell may have rung since the announcement; then the wait looks again,
 * and is awake for as long as at its start if it has rung.
 *
 * @return 1   the bell has rung
 * @return 0   it has not
 * @return <0  -errno of the primitives
 */
int bcs_bell_sleep(struct bcs_bell *bell, struct bcs_bell_wait *wait);

#endif
