/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long a process that waits for an event, its bell, looks for it before it sleeps
 * (bcs_await_event). It spins; at first without pauses, since a pause takes as long as a
 * message between processes that run. It yields, if there are more processes than cores, as
 * the one that is waited for may stand in the queue. When its patience ends it must read the
 * bell, look once more, and only then sleep. Used by the thread that waits; inlined, as a look
 * takes some nanoseconds.
 */
#ifndef BCS_SESSION_PATIENCE_H
#define BCS_SESSION_PATIENCE_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "libbcs/base/clock.h"

enum {
    BCS_LOOKS_AT_ONCE = 128, /* the first, without a pause: some hundred nanoseconds */
    BCS_LOOKS_A_CLOCK = 64,  /* looks between two looks at the clock */
    BCS_CROWDED_LOOKS = 4,   /* looks before each yield */
};

/** Of a process. */
struct bcs_patience {
    uint64_t spin_ticks; /* how long it looks */
    bool is_crowded;     /* the job has more processes than cores */
};

/** Of a wait; zero it to start, and since_ticks to start anew. */
struct bcs_spell {
    uint32_t n_looks;
    uint64_t since_ticks; /* when it began, from the first look at the clock on */
};

static inline bool bcs_spell_is_late(struct bcs_spell *spell, uint64_t ticks)
{
    uint64_t now = bcs_clock_ticks();

    if (spell->since_ticks == 0) {
        spell->since_ticks = now;
    }
    return now - spell->since_ticks > ticks;
}

/** A look has found nothing: pause or yield, if need be. @return whether to sleep now */
static inline bool bcs_patience_ends(const struct bcs_patience *patience,
                                     struct bcs_spell *spell)
{
    uint32_t n_looks = ++spell->n_looks;

    if (!patience->is_crowded || n_looks % BCS_CROWDED_LOOKS != 0) {
        if (n_looks > BCS_LOOKS_AT_ONCE) {
            bcs_clock_pause();
        }
    } else if (bcs_spell_is_late(spell, patience->spin_ticks)) {
        return true;
    } else {
        sched_yield();
    }
    return n_looks % BCS_LOOKS_A_CLOCK == 0 &&
           bcs_spell_is_late(spell, patience->spin_ticks);
}

#endif
