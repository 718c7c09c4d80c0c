/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a rank does that runs the engine itself: its part of the plan, from the first
 * action to the last one, and then it waits for all that it has begun. Meanwhile it
 * tests now and then, or is busy with something else, so that it is of no help to
 * others.
 */
#ifndef TESTS_SIM_PLAY_H
#define TESTS_SIM_PLAY_H

#include "tests/sim/model.h"

/** Let all ranks begin; sim_inline_step has them go on. */
void sim_play_start(struct sim_model *model);

/** Nobody is awake: see that nobody sleeps who should not. */
void sim_play_check_sleepers(struct sim_model *model);

#endif
