/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits in the midst of a plan; see plan.h.
 *
 * The ranks go through the plan in some order, and where a wait would be over by what
 * they have done so far, it may be put in. What ends it is never undone, so it is over
 * at some time in any other order, too: take the first thing that is not done there but
 * was in this one; what it needs is done. As nobody knows which message a receive gets,
 * a wait for a receive needs all messages that it might get, and one for a message all
 * receives that might get it.
 */
#include <string.h>

#include "tests/sim/plan.h"

enum { MOST_PATIENCE = 200 };

/** One end of a unit. */
struct end {
    bool is_posted, is_awaited;
};

/** How far the ranks are. */
struct walk {
    const struct sim_script *script;
    const struct sim_plan *from;
    struct sim_plan *to;
    uint64_t *state;
    uint32_t n_ranks;
    struct end sends[SIM_MAX_UNITS], receives[SIM_MAX_UNITS];
    bool is_taken_back[SIM_MAX_UNITS];
    uint32_t n_joined[SIM_MAX_UNITS];
    uint32_t next[JOB_MAX_RANKS];
    bool has_joined[JOB_MAX_RANKS]; /* and waits for the others */
    /* A rank waits for what it has just begun; not for ever, as the plan may not allow
     * it. */
    bool is_waiting[JOB_MAX_RANKS];
    uint32_t patience[JOB_MAX_RANKS];
    struct sim_action wish[JOB_MAX_RANKS];
};

static void append(struct walk *walk, uint32_t rank, struct sim_action action)
{
    walk->to->actions[rank][walk->to->n_actions[rank]++] = action;
}

/** Whether all that may go with an end of a unit have been begun. */
static bool have_others_begun(const struct walk *walk, uint32_t id, bool are_sends)
{
    const struct sim_unit *units = walk->script->units;

    for (uint32_t i = 0; i < walk->script->n_units; i++) {
        if (!units[i].is_left_out && sim_units_fit(&units[id], &units[i]) &&
            !(are_sends ? walk->sends : walk->receives)[i].is_posted) {
            return false;
        }
    }
    return true;
}

/** Whether a wait would be over. */
static bool would_end(const struct walk *walk, const struct sim_action *wait)
{
    enum sim_kind kind = walk->script->units[wait->unit].kind;
    bool is_send = wait->kind == SIM_AWAIT_SEND;
    bool is_taken_back = walk->is_taken_back[wait->unit];

    if (kind == SIM_TAKEN_BACK) {
        return is_taken_back;
    }
    if (kind == SIM_RACED && (is_send || !is_taken_back)) {
        return false; /* some receive may have to be posted again */
    }
    return have_others_begun(walk, wait->unit, !is_send);
}

/** Put a wait in if it would be over and has not been. */
static bool put_in(struct walk *walk, uint32_t rank, struct sim_action wait)
{
    const struct sim_unit *unit = &walk->script->units[wait.unit];
    bool is_send = wait.kind == SIM_AWAIT_SEND;
    struct end *end = &(is_send ? walk->sends : walk->receives)[wait.unit];

    if (sim_is_collective(unit) || !end->is_posted || end->is_awaited ||
        (is_send ? unit->source : unit->dest) != rank || !would_end(walk, &wait)) {
        return false;
    }
    end->is_awaited = true;
    append(walk, rank, wait);
    return true;
}

/** Whether a rank is through with waiting for what it has just begun. */
static bool is_free(struct walk *walk, uint32_t rank)
{
    if (walk->is_waiting[rank]) {
        walk->is_waiting[rank] =
            !put_in(walk, rank, walk->wish[rank]) && walk->patience[rank]-- > 0;
    }
    return !walk->is_waiting[rank];
}

/** A rank begins something. @return whether it may go on then */
static bool begin(struct walk *walk, uint32_t rank, const struct sim_action *action)
{
    uint32_t unit = action->unit;

    switch (action->kind) {
    case SIM_POST_SEND:
    case SIM_POST_RECEIVE:
        (action->kind == SIM_POST_SEND ? walk->sends : walk->receives)[unit].is_posted =
            true;
        walk->is_waiting[rank] = sim_random(walk->state, 3) == 0;
        walk->patience[rank] = MOST_PATIENCE;
        walk->wish[rank] = (struct sim_action){
            action->kind == SIM_POST_SEND ? SIM_AWAIT_SEND : SIM_AWAIT_RECEIVE, unit};
        return true;
    case SIM_JOIN:
        walk->n_joined[unit] += walk->has_joined[rank] ? 0 : 1;
        walk->has_joined[rank] = walk->n_joined[unit] < walk->n_ranks;
        return !walk->has_joined[rank];
    default:
        walk->is_taken_back[unit] = true;
        return true;
    }
}

/** A rank takes its next step. @return whether it has */
static bool advance(struct walk *walk, uint32_t rank)
{
    const struct sim_action *action = &walk->from->actions[rank][walk->next[rank]];

    if (!is_free(walk, rank) || walk->next[rank] == walk->from->n_actions[rank] ||
        !begin(walk, rank, action)) {
        return false;
    }
    append(walk, rank, *action);
    walk->next[rank]++;
    if (!walk->is_waiting[rank] && sim_random(walk->state, 3) == 0) {
        put_in(walk, rank,
               (struct sim_action){sim_random(walk->state, 2) == 0 ? SIM_AWAIT_SEND
                                                                   : SIM_AWAIT_RECEIVE,
                                   sim_random(walk->state, walk->script->n_units)});
    }
    return true;
}

void sim_plan_add_waits(struct sim_plan *plan, const struct sim_script *script,
                        uint32_t n_ranks, uint64_t *state)
{
    static struct sim_plan from;
    static struct walk walk;
    uint32_t n_left = 0;

    from = *plan;
    memset(plan->n_actions, 0, sizeof(plan->n_actions));
    walk = (struct walk){.script = script,
                         .from = &from,
                         .to = plan,
                         .state = state,
                         .n_ranks = n_ranks};
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        n_left += from.n_actions[rank];
    }
    while (n_left > 0) {
        n_left -= advance(&walk, sim_random(state, n_ranks)) ? 1 : 0;
    }
}
