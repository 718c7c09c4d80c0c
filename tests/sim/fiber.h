/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A function that can stop in the middle and be gone on with, on a stack of its own.
 * All in one thread.
 */
#ifndef TESTS_SIM_FIBER_H
#define TESTS_SIM_FIBER_H

#include <stdbool.h>
#include <ucontext.h>

/** One such function. */
struct sim_fiber {
    ucontext_t own, caller;
    void *stack;
    void (*fn)(void *arg);
    void *arg;
    bool is_within; /* fn has begun and not returned */
};

/** Make one. End with sim_fiber_fini. */
void sim_fiber_init(struct sim_fiber *fiber, void (*fn)(void *arg), void *arg);

/** Free it; accepts a zeroed one. If fn is within, it is never gone on with. */
void sim_fiber_fini(struct sim_fiber *fiber);

/** Call fn, or go on with it where it has stopped, until it stops or returns. @return
 *  whether it has returned */
bool sim_fiber_run(struct sim_fiber *fiber);

/** Within fn: stop, until somebody runs the fiber again. */
void sim_fiber_stop(struct sim_fiber *fiber);

#endif
