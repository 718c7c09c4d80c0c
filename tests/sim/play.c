/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that run the engine themselves; see play.h.
 */
#include "tests/sim/play.h"

#include <bcs/status.h>
#include <stdio.h>

#include "nic_threads/roles/collection.h"
#include "nic_threads/roles/turn.h"
#include "tests/sim/inline.h"

/** A rank. */
struct player {
    struct sim_model *model;
    uint32_t rank;
    struct sim_action wait; /* that it is in, or was in last */
};

static struct player players[JOB_MAX_RANKS];

static bool is_pending(const struct sim_end *end)
{
    return end->is_posted && !end->is_done;
}

/** Look at an operation, or wait until it is done. */
static void attend(struct player *player, struct sim_action wait, bool waits)
{
    struct sim_model *model = player->model;
    struct sim_end *end = sim_model_end_of(model, player->rank, &wait);
    struct bcs_context *context = model->world.ranks[player->rank].context;

    player->wait = wait;
    while (is_pending(end) &&
           bcs_test(context, &end->request, waits) != BCS_E_PENDING) {
        if (wait.kind == SIM_AWAIT_SEND) {
            sim_model_sent(model, wait.unit);
        } else {
            sim_model_received(model, wait.unit);
        }
    }
}

/** Whether a wait is for an operation of a rank. */
static bool is_own(const struct player *player, struct sim_action wait)
{
    const struct sim_unit *unit = &player->model->script->units[wait.unit];

    return !sim_is_collective(unit) &&
           (wait.kind == SIM_AWAIT_SEND ? unit->source : unit->dest) == player->rank;
}

/** Look at any of the rank's operations. */
static void test_any(struct player *player)
{
    struct sim_model *model = player->model;
    uint32_t n_units = model->script->n_units;
    uint32_t first = sim_random(&model->state, n_units);
    enum sim_action_kind kind =
        sim_random(&model->state, 2) == 0 ? SIM_AWAIT_SEND : SIM_AWAIT_RECEIVE;

    for (uint32_t i = 0; i < n_units; i++) {
        struct sim_action wait = {kind, (first + i) % n_units};

        if (is_own(player, wait) &&
            is_pending(sim_model_end_of(model, player->rank, &wait))) {
            attend(player, wait, false);
            return;
        }
    }
}

/** Whether the next action waits for what this one begins, so that both are one
 *  call. */
static bool is_awaited(const struct player *player, const struct sim_action *action)
{
    const struct sim_action *next = sim_model_next(player->model, player->rank);

    return next != NULL && next->unit == action->unit &&
           next->kind ==
               (action->kind == SIM_POST_SEND ? SIM_AWAIT_SEND : SIM_AWAIT_RECEIVE);
}

static void carry_out(struct player *player, const struct sim_action *action)
{
    struct sim_model *model = player->model;
    bool waits = is_awaited(player, action);

    player->wait = *action;
    switch (action->kind) {
    case SIM_POST_SEND:
        sim_model_send(model, action->unit, waits);
        if (waits) {
            sim_model_sent(model, action->unit);
        }
        break;
    case SIM_POST_RECEIVE:
        sim_model_receive(model, action->unit, waits);
        if (waits) {
            sim_model_received(model, action->unit);
        }
        break;
    case SIM_TAKE_BACK:
        sim_model_take_back(model, action->unit);
        break;
    case SIM_JOIN:
        sim_model_meet(model, player->rank, action->unit);
        break;
    default:
        attend(player, *action, true);
        break;
    }
}

/** Wait for the receives that must be posted again if they were taken back in time, or
 *  for all that there is. */
static void finish(struct player *player, bool are_raced)
{
    struct sim_model *model = player->model;
    uint32_t n_units = model->script->n_units;
    uint32_t first = sim_random(&model->state, n_units);

    for (uint32_t i = 0; i < 2 * n_units; i++) {
        struct sim_action wait = {i % 2 == 0 ? SIM_AWAIT_SEND : SIM_AWAIT_RECEIVE,
                                  (first + i / 2) % n_units};

        if (is_own(player, wait) &&
            (!are_raced || (wait.kind == SIM_AWAIT_RECEIVE &&
                            model->script->units[wait.unit].kind == SIM_RACED))) {
            attend(player, wait, true);
        }
    }
}

static void play(void *arg)
{
    struct player *player = arg;
    struct sim_model *model = player->model;
    const struct sim_action *action;

    while ((action = sim_model_next(model, player->rank)) != NULL) {
        sim_process_stop();
        switch (sim_random(&model->state, 6)) {
        case 0:
            test_any(player);
            break;
        case 1:
            sim_process_be_busy();
            break;
        default:
            sim_model_take(model, player->rank);
            carry_out(player, action);
            break;
        }
    }
    sim_process_be_busy();
    finish(player, true);
    finish(player, false);
}

void sim_play_start(struct sim_model *model)
{
    for (uint32_t i = 0; i < model->world.n_ranks; i++) {
        players[i] = (struct player){.model = model, .rank = i};
        sim_inline_start(&model->world, i, play, &players[i]);
    }
}

/** Whether what a rank waits for has come, and wants nothing of others any more. */
static bool has_come(const struct player *player)
{
    struct sim_model *model = player->model;
    const struct sim_end *end = sim_model_end_of(model, player->rank, &player->wait);
    const struct bcs_poster *poster = &model->world.ranks[player->rank].context->poster;

    if (player->wait.kind == SIM_JOIN) {
        for (uint32_t i = 0; i < model->world.n_ranks; i++) {
            if (!model->members[player->wait.unit][i].is_posted) {
                return false;
            }
        }
        return true;
    }
    if (!is_pending(end) || bcs_is_done(&end->request)) {
        return false;
    }
    switch (bcs_cell_state(
        bcs_poster_cell_at(poster, bcs_request_state(&end->request)->cell))) {
    case BCS_CELL_INLINE:
    case BCS_CELL_BLOCK:
    case BCS_CELL_DONE:
    case BCS_CELL_CANCELLED:
        return true;
    default: /* pending, or a transfer in which another end may have to do something */
        return false;
    }
}

/** Whether anything lies at a desk that a rank has turned before it fell asleep, or
 *  that had to be turned for it since: its own one, and where it has something under
 *  way; or any node. */
static bool is_left_alone(const struct nic_engine *engine)
{
    for (uint32_t i = 0; i < engine->n_views; i++) {
        const struct nic_view *view = nic_engine_view_at(engine, i);
        bool is_owed =
            engine->n_pending_desks > 0 && (engine->pending_desks[0] >> i) % 2 != 0;

        if (!view->is_alone || i == engine->own
                ? nic_engine_has_work(view)
                : is_owed && nic_has_posted(view, engine->port)) {
            return true;
        }
    }
    return false;
}

void sim_play_check_sleepers(struct sim_model *model)
{
    for (uint32_t i = 0; i < model->world.n_ranks; i++) {
        const struct player *player = &players[i];

        if (model->world.processes[i].asleep_on == NULL) {
            continue;
        }
        if (has_come(player)) {
            sim_model_fail(model, "its rank is asleep though it is done",
                           player->wait.unit);
        }
        if (is_left_alone(model->world.ranks[i].context->engine)) {
            sim_model_fail(model, "its rank is asleep, and what it needs lies there",
                           player->wait.unit);
        }
    }
}
