/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Running a script; see run.h.
 */
#include "tests/sim/run.h"

#include <stdio.h>

#include "tests/sim/inline.h"
#include "tests/sim/model.h"
#include "tests/sim/play.h"
#include "tests/sim/trace.h"

/* Steps in a row in which no rank did anything, each chosen at random among a few
 * dozen. */
enum { MANY_STEPS = 100000 };

/* ---- with crews */

/** A rank's next action, if there is one that it can do now. */
static void act(struct sim_model *model, uint32_t rank)
{
    const struct sim_action *action = sim_model_next(model, rank);

    if (action == NULL ||
        bcs_ring_next(&model->world.ranks[rank].context->poster.ring) == NULL ||
        (action->kind == SIM_JOIN && model->is_joining[rank]) ||
        (action->kind == SIM_TAKE_BACK &&
         !sim_model_may_take_back(model, action->unit))) {
        return;
    }
    sim_model_take(model, rank);
    switch (action->kind) {
    case SIM_POST_SEND:
        sim_model_send(model, action->unit, false);
        break;
    case SIM_POST_RECEIVE:
        sim_model_receive(model, action->unit, false);
        break;
    case SIM_JOIN:
        sim_model_join(model, rank, action->unit);
        break;
    default:
        sim_model_take_back(model, action->unit);
        break;
    }
}

/** Whether an operation is over, now and not before. */
static bool is_over(struct sim_model *model, uint32_t rank, struct sim_end *end)
{
    return end->is_posted && !end->is_done &&
           bcs_look(model->world.ranks[rank].context, &end->request);
}

/** A rank looks at one of its operations. */
static void look(struct sim_model *model, uint32_t id)
{
    const struct sim_unit *unit = &model->script->units[id];
    uint32_t rank = sim_random(&model->state, model->world.n_ranks);
    struct sim_end *member = &model->members[id][rank];

    if (sim_is_collective(unit)) {
        if (member->is_posted && !member->is_done) {
            sim_model_has_left(model, rank, id);
        }
    } else if (is_over(model, unit->source, &model->sends[id])) {
        sim_model_sent(model, id);
    } else if (is_over(model, unit->dest, &model->receives[id])) {
        sim_model_received(model, id);
    }
}

/** One step of anybody. */
static void step(struct sim_model *model)
{
    struct sim_world *world = &model->world;
    uint32_t node = sim_random(&model->state, world->n_nodes);
    uint32_t rank = sim_random(&model->state, world->n_ranks);

    switch (sim_random(&model->state, 8)) {
    case 0:
        act(model, rank);
        break;
    case 1:
        if (sim_step_sender(world)) {
            sim_trace("strobe of node", 0, SIM_NO_UNIT);
        }
        break;
    case 2:
        sim_land(world, node);
        break;
    case 3:
    case 4:
        look(model, sim_random(&model->state, model->script->n_units));
        break;
    case 5:
        bcs_progress(world->ranks[rank].context); /* orders */
        break;
    default:
        if (sim_step_receiver(world, node)) {
            sim_trace("work of node", node, SIM_NO_UNIT);
        }
        break;
    }
}

/* ---- of both kinds */

/** Go on until all is done, or a rank finds that something is wrong, or nothing happens
 *  any more. */
static void run_all(struct sim_model *model)
{
    bool has_crew = model->script->shape.has_crew;
    uint32_t n_idle = 0;

    while (model->n_left > 0 && n_idle < MANY_STEPS && model->problem[0] == '\0') {
        uint64_t n_moves = model->n_moves;

        sim_trace_step();
        if (has_crew) {
            step(model);
        } else if (!sim_inline_step(&model->world)) {
            sim_play_check_sleepers(model);
            if (!sim_inline_rouse(&model->world)) {
                break;
            }
        }
        n_idle = model->n_moves == n_moves ? n_idle + 1 : 0;
    }
    if (model->problem[0] == '\0' && model->n_left > 0) {
        snprintf(model->problem, sizeof(model->problem), "%u ends are never done",
                 model->n_left);
    }
}

const char *sim_run(const struct sim_script *script, bool traces, uint64_t *digest_out)
{
    static struct sim_model model;

    sim_trace_begin(traces);
    sim_model_begin(&model, script);
    if (!script->shape.has_crew) {
        sim_inline_init(&model.world, script->has_background, &model.state);
        sim_play_start(&model);
    }
    run_all(&model);
    sim_model_check_order(&model);
    *digest_out = sim_trace_digest();
    if (!script->shape.has_crew) {
        sim_inline_fini(&model.world);
    }
    sim_model_end(&model);
    return model.problem[0] == '\0' ? NULL : model.problem;
}
