/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans; see plan.h.
 */
#include "tests/sim/plan.h"

#include <string.h>

static void add(struct sim_plan *plan, uint32_t rank, enum sim_action_kind kind,
                uint32_t unit)
{
    plan->actions[rank][plan->n_actions[rank]++] = (struct sim_action){kind, unit};
}

/** Add what a unit takes. @return how much of it must end */
static uint32_t add_unit(struct sim_plan *plan, const struct sim_unit *unit,
                         uint32_t id, uint32_t n_ranks)
{
    if (sim_is_collective(unit)) {
        for (uint32_t rank = 0; rank < n_ranks; rank++) {
            add(plan, rank, SIM_JOIN, id);
        }
        return n_ranks;
    }
    if (unit->kind != SIM_TAKEN_BACK) {
        add(plan, unit->source, SIM_POST_SEND, id);
    }
    if (unit->kind == SIM_REGRETTED) {
        add(plan, unit->source, SIM_TAKE_BACK, id);
    }
    add(plan, unit->dest, SIM_POST_RECEIVE, id);
    if (unit->kind == SIM_TAKEN_BACK || unit->kind == SIM_RACED) {
        add(plan, unit->dest, SIM_TAKE_BACK, id);
    }
    return unit->kind == SIM_TAKEN_BACK ? 1 : 2;
}

/** Put the actions of a rank into another order. Collectives keep theirs; what is taken
 *  back was posted before. */
static void shuffle(struct sim_action actions[], uint32_t n, uint64_t *state)
{
    for (uint32_t i = 0; i + 1 < n; i++) {
        struct sim_action kept = actions[i], next = actions[i + 1];
        bool are_bound =
            (kept.kind == SIM_JOIN && next.kind == SIM_JOIN) || kept.unit == next.unit;

        if (sim_random(state, 3) != 0 && !are_bound) {
            actions[i] = next;
            actions[i + 1] = kept;
        }
    }
}

uint32_t sim_plan_make(struct sim_plan *plan, const struct sim_script *script,
                       uint32_t n_ranks, uint64_t *state)
{
    uint32_t n = 0;

    memset(plan->n_actions, 0, sizeof(plan->n_actions));
    for (uint32_t i = 0; i < script->n_units; i++) {
        if (!script->units[i].is_left_out) {
            n += add_unit(plan, &script->units[i], i, n_ranks);
        }
    }
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        for (uint32_t i = sim_random(state, 4); i > 0; i--) {
            shuffle(plan->actions[rank], plan->n_actions[rank], state);
        }
    }
    return n;
}
