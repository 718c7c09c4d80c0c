/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The model: what is common, and messages; see model.h.
 */
#include "tests/sim/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/api/message/post.h"
#include "tests/sim/trace.h"

enum {
    CONTEXT_ANY_TAG = 4, /* that of the group of all is 2 */
    CONTEXT_ANY = 6,
    ANY_SOURCE_TAG = 10, /* from here on */
    UNUSED_TAG = 20,
    RACED_TAG = 30,
    REGRETTED_TAG = 40,
};

static const char *const action_names[] = {
    [SIM_POST_SEND] = "send by rank",
    [SIM_POST_RECEIVE] = "receive by rank",
    [SIM_TAKE_BACK] = "cancellation by rank",
    [SIM_JOIN] = "joining by rank",
    [SIM_AWAIT_SEND] = "wait for its send by rank",
    [SIM_AWAIT_RECEIVE] = "wait for its receive by rank",
};

void sim_model_begin(struct sim_model *model, const struct sim_script *script)
{
    memset(model, 0, sizeof(*model));
    model->script = script;
    model->state = script->seed * 4 + 3 + (script->order << 32);
    memset(model->got, 0xff, sizeof(model->got));
    sim_world_init(&model->world, &script->shape);
    for (uint32_t i = 0; i < model->world.n_ranks; i++) {
        model->any_tag[i] = model->any[i] = model->world.ranks[i].world;
        model->any_tag[i].context_id = CONTEXT_ANY_TAG;
        model->any[i].context_id = CONTEXT_ANY;
        sim_model_open_counted(model, i);
    }
    model->n_left =
        sim_plan_make(&model->plan, script, model->world.n_ranks, &model->state);
    if (!script->shape.has_crew) {
        sim_plan_add_waits(&model->plan, script, model->world.n_ranks, &model->state);
    }
}

void sim_model_end(struct sim_model *model)
{
    sim_world_fini(&model->world);
    for (uint32_t i = 0; i < SIM_MAX_UNITS; i++) {
        free(model->sends[i].data);
        free(model->receives[i].data);
    }
}

void sim_model_fail(struct sim_model *model, const char *what, uint32_t unit)
{
    if (model->problem[0] == '\0') {
        snprintf(model->problem, sizeof(model->problem), "unit %u: %s", unit, what);
    }
}

const struct sim_action *sim_model_next(const struct sim_model *model, uint32_t rank)
{
    return model->next_action[rank] == model->plan.n_actions[rank]
               ? NULL
               : &model->plan.actions[rank][model->next_action[rank]];
}

struct sim_end *sim_model_end_of(struct sim_model *model, uint32_t rank,
                                 const struct sim_action *action)
{
    switch (action->kind) {
    case SIM_POST_SEND:
    case SIM_AWAIT_SEND:
        return &model->sends[action->unit];
    case SIM_JOIN:
        return &model->members[action->unit][rank];
    default:
        return &model->receives[action->unit];
    }
}

void sim_model_take(struct sim_model *model, uint32_t rank)
{
    const struct sim_action *action = sim_model_next(model, rank);
    struct sim_end *end = sim_model_end_of(model, rank, action);

    model->next_action[rank]++;
    model->n_moves++;
    sim_trace(action_names[action->kind], rank, action->unit);
    if (action->kind == SIM_POST_SEND || action->kind == SIM_POST_RECEIVE ||
        action->kind == SIM_JOIN) {
        end->position = model->n_posts++;
        end->is_posted = true;
    }
}

void sim_model_done(struct sim_model *model, struct sim_end *end, const char *what,
                    uint32_t rank, uint32_t unit)
{
    end->is_done = true;
    model->n_left--;
    model->n_moves++;
    sim_trace(what, rank, unit);
}

/* ---- messages */

static uint8_t byte_of(uint32_t unit, uint32_t at)
{
    return (uint8_t)(unit * 37 + at * 7 + at / 251 + 1);
}

static const struct bcs_group *group_of(const struct sim_model *model,
                                        const struct sim_unit *unit, uint32_t rank)
{
    switch (unit->kind) {
    case SIM_ANY_TAG:
        return &model->any_tag[rank];
    case SIM_ANY:
        return &model->any[rank];
    default:
        return &model->world.ranks[rank].world;
    }
}

static int32_t tag_of(const struct sim_unit *unit)
{
    switch (unit->kind) {
    case SIM_ANY_SOURCE:
        return ANY_SOURCE_TAG + unit->tag;
    case SIM_TAKEN_BACK:
        return UNUSED_TAG;
    case SIM_RACED:
        return RACED_TAG + unit->tag;
    case SIM_REGRETTED:
        return REGRETTED_TAG + unit->tag;
    default:
        return unit->tag;
    }
}

void sim_model_send(struct sim_model *model, uint32_t id, bool waits)
{
    const struct sim_unit *unit = &model->script->units[id];
    struct sim_end *end = &model->sends[id];
    const struct bcs_message message = {
        .group = group_of(model, unit, unit->source),
        .data = end->data = malloc(unit->n_bytes + 1),
        .n_bytes = unit->n_bytes,
        .peer = (int32_t)unit->dest,
        .tag = tag_of(unit),
        .will_wait = waits,
    };

    for (uint32_t i = 0; i < unit->n_bytes; i++) {
        end->data[i] = byte_of(id, i);
    }
    if (bcs_send(model->world.ranks[unit->source].context, &message, unit->mode,
                 waits ? NULL : &end->request) != 0) {
        sim_model_fail(model, "cannot be sent", id);
    }
}

/** The longest message that a receive may get. */
static uint32_t room(const struct sim_model *model)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < model->script->n_units; i++) {
        most = model->script->units[i].n_bytes > most ? model->script->units[i].n_bytes
                                                      : most;
    }
    return most;
}

void sim_model_receive(struct sim_model *model, uint32_t id, bool waits)
{
    const struct sim_unit *unit = &model->script->units[id];
    struct sim_end *end = &model->receives[id];
    bool names_source = unit->kind != SIM_ANY_SOURCE && unit->kind != SIM_ANY;
    bool names_tag = unit->kind != SIM_ANY_TAG && unit->kind != SIM_ANY;
    uint32_t n_bytes = room(model);
    const struct bcs_message message = {
        .group = group_of(model, unit, unit->dest),
        .data = end->data = calloc(n_bytes + 1, 1),
        .n_bytes = n_bytes,
        .peer = names_source ? (int32_t)unit->source : BCS_ANY_SOURCE,
        .tag = names_tag ? tag_of(unit) : BCS_ANY_TAG,
    };

    if (bcs_recv(model->world.ranks[unit->dest].context, &message,
                 waits ? &end->request.result : NULL,
                 waits ? NULL : &end->request) != 0) {
        sim_model_fail(model, "cannot be received", id);
    }
}

/** Which message has come: of those that fit what the receive has been told, the
 *  earliest that no other receive has got; data tell the rest. */
static void find_message(struct sim_model *model, uint32_t id)
{
    const struct sim_script *script = model->script;
    const struct bcs_result *result = &model->receives[id].request.result;
    const uint8_t *data = model->receives[id].data;

    for (uint32_t i = 0; i < script->n_units; i++) {
        const struct sim_unit *send = &script->units[i];
        bool is_whole = true;

        if (send->is_left_out || sim_is_collective(send) ||
            send->kind == SIM_TAKEN_BACK || !sim_units_fit(&script->units[id], send) ||
            !model->sends[i].is_posted || (int32_t)send->source != result->source ||
            tag_of(send) != result->tag || send->n_bytes != result->n_bytes) {
            continue;
        }
        for (uint32_t other = 0; other < script->n_units; other++) {
            is_whole = is_whole && model->got[other] != i;
        }
        for (uint32_t at = 0; is_whole && at < send->n_bytes; at++) {
            is_whole = data[at] == byte_of(i, at);
        }
        /* An empty message tells nothing of itself: any that fits will do, the
         * earliest. */
        if (is_whole &&
            (model->got[id] == UINT32_MAX ||
             model->sends[i].position < model->sends[model->got[id]].position)) {
            model->got[id] = i;
        }
    }
    if (model->got[id] == UINT32_MAX) {
        sim_model_fail(model, "received what nobody has sent", id);
    }
}

bool sim_model_may_take_back(const struct sim_model *model, uint32_t id)
{
    const struct sim_unit *unit = &model->script->units[id];
    const struct nic_engine *engine = model->world.ranks[unit->source].context->engine;

    return unit->kind != SIM_REGRETTED ||
           (atomic_load(&nic_engine_own(engine)->desk->lock) == 0 &&
            atomic_load(&nic_engine_view(engine, unit->dest)->desk->lock) == 0);
}

/** Take a send back, and send it again if nobody has it. */
static void regret(struct sim_model *model, uint32_t id)
{
    const struct sim_unit *unit = &model->script->units[id];
    struct sim_end *end = &model->sends[id];

    if (!bcs_cancel_send(model->world.ranks[unit->source].context, &end->request,
                         unit->dest)) {
        return;
    }
    if (end->request.result.error != BCS_E_CANCELLED || !bcs_is_done(&end->request)) {
        sim_model_fail(model, "was taken back, and is not done so", id);
    }
    model->n_left += end->is_done ? 1 : 0;
    end->is_done = false;
    free(end->data);
    end->position = model->n_posts++;
    sim_model_send(model, id, false);
}

void sim_model_take_back(struct sim_model *model, uint32_t id)
{
    if (model->script->units[id].kind == SIM_REGRETTED) {
        regret(model, id);
        return;
    }
    bcs_cancel(model->world.ranks[model->script->units[id].dest].context,
               &model->receives[id].request);
}

void sim_model_sent(struct sim_model *model, uint32_t id)
{
    const struct sim_unit *unit = &model->script->units[id];
    struct sim_end *end = &model->sends[id];

    memset(end->data, 0xee, unit->n_bytes); /* its source may be used again */
    sim_model_done(model, end, "done for sender", unit->source, id);
}

bool sim_model_received(struct sim_model *model, uint32_t id)
{
    struct sim_end *end = &model->receives[id];
    bool is_cancelled = end->request.result.error == BCS_E_CANCELLED;

    if (is_cancelled && model->script->units[id].kind == SIM_RACED) {
        free(end->data);
        end->position = model->n_posts++;
        sim_model_receive(model, id, false);
        return false;
    }
    if (is_cancelled != (model->script->units[id].kind == SIM_TAKEN_BACK)) {
        sim_model_fail(model,
                       is_cancelled ? "was taken back by itself" : "got a message", id);
    } else if (!is_cancelled) {
        find_message(model, id);
    }
    sim_model_done(model, end, "done for receiver", model->script->units[id].dest, id);
    return true;
}

void sim_model_check_order(struct sim_model *model)
{
    const struct sim_unit *units = model->script->units;
    uint32_t n = model->script->n_units;

    for (uint32_t a = 0; a < n; a++) {
        for (uint32_t b = 0; b < n; b++) {
            uint32_t first = model->got[a], second = model->got[b];

            if (first != UINT32_MAX && second != UINT32_MAX && a != b &&
                units[first].n_bytes > 0 && units[second].n_bytes > 0 &&
                units[first].source == units[second].source &&
                model->sends[first].position < model->sends[second].position &&
                model->receives[b].position < model->receives[a].position &&
                sim_units_fit(&units[b], &units[first])) {
                sim_model_fail(model, "overtook a message", a);
            }
        }
    }
}
