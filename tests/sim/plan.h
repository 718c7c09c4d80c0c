/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each rank does, one thing after the other, so that all units of a script are
 * done.
 */
#ifndef TESTS_SIM_PLAN_H
#define TESTS_SIM_PLAN_H

#include "tests/sim/script.h"

enum { SIM_MAX_ACTIONS = 6 * SIM_MAX_UNITS };

enum sim_action_kind {
    SIM_POST_SEND,
    SIM_POST_RECEIVE,
    SIM_TAKE_BACK,
    SIM_JOIN,
    SIM_AWAIT_SEND,
    SIM_AWAIT_RECEIVE,
};

/** One thing that a rank does. */
struct sim_action {
    enum sim_action_kind kind;
    uint32_t unit;
};

/** What each rank does. */
struct sim_plan {
    struct sim_action actions[JOB_MAX_RANKS][SIM_MAX_ACTIONS];
    uint32_t n_actions[JOB_MAX_RANKS];
};

/** Make a plan; state is that of the random numbers. @return how many of its actions
 *  begin something that must end */
uint32_t sim_plan_make(struct sim_plan *plan, const struct sim_script *script,
                       uint32_t n_ranks, uint64_t *state);

/** Have ranks wait in the midst of a plan, for one of their operations each time; the
 *  plan can be carried out in any order of its ranks nevertheless, also if a joining
 *  waits for all. */
void sim_plan_add_waits(struct sim_plan *plan, const struct sim_script *script,
                        uint32_t n_ranks, uint64_t *state);

#endif
