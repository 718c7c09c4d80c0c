/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchanges with the neighbours of a topology. Runs in the calling process.
 */
#include "libbcs/api/collective/neighbors.h"

#include <errno.h>

#include "libbcs/api/collective/collective_internal.h"

static void receive_next(struct bcs_plan *plan, const struct bcs_neighbors *neighbors,
                         struct bcs_block_cursor *from)
{
    int32_t source = neighbors->sources[from->index];

    if (source != BCS_NO_NEIGHBOR) {
        bcs_plan_receive(plan, source, bcs_block_cursor_data(from),
                         bcs_block_cursor_bytes(from));
    }
    bcs_block_cursor_next(from);
}

static void send_at(struct bcs_plan *plan, const struct bcs_neighbors *neighbors,
                    const struct bcs_block_cursor *to)
{
    int32_t target = neighbors->targets[to->index];

    if (target != BCS_NO_NEIGHBOR) {
        bcs_plan_send(plan, target, bcs_block_cursor_data(to),
                      bcs_block_cursor_bytes(to));
    }
}

/** In each dimension: receive from below, then from above; so send up, then down. */
static void plan_cartesian(struct bcs_plan *plan, const struct bcs_neighbors *neighbors,
                           struct bcs_block_cursor to, struct bcs_block_cursor from)
{
    for (int32_t i = 0; i < neighbors->n_targets; i += 2) {
        struct bcs_block_cursor down = to;

        receive_next(plan, neighbors, &from);
        receive_next(plan, neighbors, &from);
        bcs_block_cursor_next(&to);
        send_at(plan, neighbors, &to);
        send_at(plan, neighbors, &down);
        bcs_block_cursor_next(&to);
    }
}

static void plan_graph(struct bcs_plan *plan, const struct bcs_neighbors *neighbors,
                       struct bcs_block_cursor to, struct bcs_block_cursor from)
{
    for (int32_t i = 0; i < neighbors->n_sources || i < neighbors->n_targets; i++) {
        if (i < neighbors->n_sources) {
            receive_next(plan, neighbors, &from);
        }
        if (i < neighbors->n_targets) {
            send_at(plan, neighbors, &to);
            bcs_block_cursor_next(&to);
        }
    }
}

int bcs_neighbor_exchange(struct bcs_context *context, struct bcs_group *group,
                          const struct bcs_neighbors *neighbors,
                          const struct bcs_blocks *send,
                          const struct bcs_blocks *receive, struct bcs_request *request)
{
    struct bcs_block_cursor to = bcs_block_cursor_at(send, neighbors->n_targets, 0);
    struct bcs_block_cursor from =
        bcs_block_cursor_at(receive, neighbors->n_sources, 0);
    struct bcs_plan *plan = bcs_plan_begin(
        context, group, bcs_plan_agreed(BCS_PLAN_NEIGHBORS, 0, -1), request);

    if (plan == NULL) {
        return -ENOMEM;
    }
    if (neighbors->is_cartesian) {
        plan_cartesian(plan, neighbors, to, from);
    } else {
        plan_graph(plan, neighbors, to, from);
    }
    return bcs_plan_end(plan);
}
