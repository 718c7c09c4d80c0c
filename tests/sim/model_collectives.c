/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The model: collectives; see model.h.
 */
#include <string.h>

#include "libbcs/api/collective/engine_collective.h"
#include "libbcs/api/collective/near_collective.h"
#include "libbcs/api/message/post.h"
#include "nic_threads/drivers/pending_desks.h"
#include "nic_threads/node/slot.h"
#include "nic_threads/rules/reduce_ops.h"
#include "tests/sim/model.h"

enum { COUNTED_SLOT = 1 }; /* that of the group of all is 0 */

void sim_model_open_counted(struct sim_model *model, uint32_t rank)
{
    struct rank *me = &model->world.ranks[rank];
    struct bcs_group *counted = &model->counted[rank];
    const struct nic_group_piece opening = {
        .members = {.base = 1,
                    .n_members = model->world.n_ranks,
                    .n_local = model->world.n_ranks,
                    .n_nodes = 1},
        .marks = {1},
    };
    struct bcs_ring_writer *ring;
    struct bcs_descriptor *entry;

    *counted = me->world;
    if (!bcs_group_is_near(me->context, counted)) {
        return;
    }
    counted->slot = COUNTED_SLOT;
    ring = bcs_post_to_node(me->context);
    entry = bcs_post_begin(me->context, ring, BCS_GROUP_OPEN);
    entry->port = COUNTED_SLOT;
    memcpy(entry->payload, &opening, sizeof(opening));
    bcs_ring_publish(ring, entry);
}

static int64_t operand(uint32_t rank, uint32_t id)
{
    return (int64_t)rank * 1000 + id;
}

static int sum_kernel(void)
{
    return nic_reduce_kernel(NIC_REDUCE_SUM, NIC_REDUCE_I64);
}

/** A rank's part is over, with what it got. */
static void check(struct sim_model *model, uint32_t rank, uint32_t id, int64_t got)
{
    int64_t n = model->world.n_ranks, sum = n * (n - 1) / 2 * 1000 + n * id;

    for (uint32_t i = 0; i < model->world.n_ranks; i++) {
        if (!model->members[id][i].is_posted) {
            sim_model_fail(model, "a collective is over before all have begun", id);
        }
    }
    if (model->script->units[id].kind == SIM_SUM && got != sum) {
        sim_model_fail(model, "a wrong sum", id);
    }
    sim_model_done(model, &model->members[id][rank], "left by rank", rank, id);
}

void sim_model_join(struct sim_model *model, uint32_t rank, uint32_t id)
{
    struct bcs_context *context = model->world.ranks[rank].context;
    const struct bcs_group *group = &model->counted[rank];
    struct bcs_ring_writer *ring = bcs_post_to_node(context);
    struct bcs_descriptor *entry = bcs_post_begin(context, ring, BCS_COLLECTIVE);
    bool is_sum = model->script->units[id].kind == SIM_SUM;
    int64_t mine = operand(rank, id);

    model->members[id][rank].cell = bcs_poster_cell(&context->poster);
    entry->flags = BCS_TO_ALL;
    entry->operation =
        is_sum ? bcs_operation(BCS_COLLECTIVE_REDUCE, (unsigned int)sum_kernel())
               : bcs_operation(BCS_COLLECTIVE_BARRIER, 0);
    entry->context_id = group->context_id;
    entry->port = group->slot;
    entry->source = (int32_t)rank;
    entry->tag = -1;
    entry->cell = model->members[id][rank].cell;
    entry->n_bytes = is_sum ? sizeof(mine) : 0;
    memcpy(entry->payload, &mine, sizeof(mine));
    nic_engine_add_pending(context->engine, ring->reader);
    model->is_joining[rank] = true;
    bcs_post_kick(context, ring, entry);
}

bool sim_model_has_left(struct sim_model *model, uint32_t rank, uint32_t id)
{
    struct bcs_context *context = model->world.ranks[rank].context;
    const struct bcs_cell *cell =
        bcs_poster_cell_at(&context->poster, model->members[id][rank].cell);
    enum bcs_cell_state state = bcs_cell_state(cell);
    int64_t got = 0;

    if (state == BCS_CELL_PENDING) {
        return false;
    }
    if (state == BCS_CELL_INLINE) {
        memcpy(&got, cell->payload, sizeof(got));
    }
    bcs_poster_free_cell(&context->poster, model->members[id][rank].cell);
    nic_engine_end_pending(context->engine);
    model->is_joining[rank] = false;
    check(model, rank, id, got);
    return true;
}

/** The whole of it by the engine. */
static void meet_in_slot(struct sim_model *model, uint32_t rank, uint32_t id)
{
    struct bcs_context *context = model->world.ranks[rank].context;
    struct bcs_waiter waiter = {0};

    sim_model_join(model, rank, id);
    while (!sim_model_has_left(model, rank, id)) {
        bcs_wait_turn(context, &waiter);
    }
    bcs_wait_stop(context, &waiter);
}

void sim_model_meet(struct sim_model *model, uint32_t rank, uint32_t id)
{
    const struct sim_unit *unit = &model->script->units[id];
    struct rank *me = &model->world.ranks[rank];
    int64_t mine = operand(rank, id), got = 0;
    bool is_sum = unit->kind == SIM_SUM;
    const struct bcs_engine_collective_args args = {
        .kind = is_sum ? BCS_ENGINE_REDUCE : BCS_ENGINE_BARRIER,
        .root = -1,
        .kernel = is_sum ? sum_kernel() : -1,
        .count = is_sum ? 1 : 0,
        .in = is_sum ? &mine : NULL,
        .out = &got,
        .n_bytes = is_sum ? sizeof(mine) : 0,
    };

    if (unit->mode == BCS_SEND_SYNCHRONOUS) { /* one in three */
        meet_in_slot(model, rank, id);
        return;
    }
    if (bcs_engine_collective(me->context, &me->world, &args) != 0) {
        sim_model_fail(model, "a collective fails", id);
    }
    check(model, rank, id, got);
}
