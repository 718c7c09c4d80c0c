/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Driver `inline` of a simulated job: ranks that run the engine themselves, each a
 * process of its own (process.h), and the background thread, if there is one. The
 * driver is the product's; when a rank's patience ends, so that it yields its core or
 * sleeps, the seed says.
 */
#ifndef TESTS_SIM_INLINE_H
#define TESTS_SIM_INLINE_H

#include "tests/sim/world.h"

/** Let a job have this driver. state is that of the random numbers, for as long as the
 *  job lasts. End with sim_inline_fini. */
void sim_inline_init(struct sim_world *world, bool has_background, uint64_t *state);

/** What a rank does. */
void sim_inline_start(struct sim_world *world, uint32_t rank, void (*fn)(void *arg),
                      void *arg);

/** Free the processes, wherever they are. */
void sim_inline_fini(struct sim_world *world);

/** Let one of those who are awake go on. @return false: nobody is */
bool sim_inline_step(struct sim_world *world);

/** Nobody is awake: let one of those who are busy go on, or time pass. @return false:
 *  nobody ever wakes */
bool sim_inline_rouse(struct sim_world *world);

#endif
