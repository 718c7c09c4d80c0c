/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The board of a job; see board_fill.h.
 */
#include "libbcs/api/board_fill.h"

#include <bcs/version.h>
#include <stddef.h>
#include <string.h>

#include "libbcs/api/context/context.h"
#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/ring/board.h"

_Static_assert(NIC_LOCK_IS_MISSED == BCS_BOARD_LOCK_FLAGS, "as who looks has it");

/** What is there once for the machine. */
static void fill_head(const struct bcs_context *context, struct bcs_board *board)
{
    struct bcs_sign *sign = &context->engine->machine->sign;

    board->shape = context->engine->layout.shape;
    board->n_nodes = context->engine->layout.n_nodes;
    board->first_near = context->engine->first_near;
    board->n_near = context->engine->n_near;
    board->n_ranks = context->size;
    board->has_map = !bcs_ports_are_ranks(context);
    if (board->has_map) {
        memcpy(bcs_board_ports(board, board->n_nodes), context->map->ports,
               context->size * sizeof(uint32_t));
    }
    board->is_linked = nic_is_linked(context->engine);
    board->lock_offset = offsetof(struct nic_desk, lock);
    board->slice_offset = offsetof(struct nic_desk, slice);
    strncpy(board->driver,
            context->config.driver == NIC_DRIVER_THREADS ? "threads" : "inline",
            sizeof(board->driver) - 1);
    strncpy(board->strobe,
            context->config.strobe == NIC_STROBE_TIMED ? "timed" : "demand",
            sizeof(board->strobe) - 1);
    board->began_ns = bcs_clock_now_ns();
    memcpy(sign->magic, BCS_SIGN_MAGIC, sizeof(sign->magic));
    strncpy(sign->version, bcs_version(), sizeof(sign->version) - 1);
    sign->layout = bcs_board_layout();
    sign->board = sizeof(struct bcs_machine);
    /* release: pairs with the acquire in apps/tools/look */
    atomic_store_explicit(&sign->is_ready, 1, memory_order_release);
}

void bcs_board_fill(const struct bcs_context *context)
{
    struct bcs_board *board = (void *)(context->engine->machine + 1);
    uint32_t node = context->engine->home;

    if (context->port % context->engine->layout.shape.node_ranks == 0) {
        board->nodes[node].memory = bcs_memory_address(context->meeting.memory, node);
        /* release: pairs with the acquire in apps/tools/look */
        atomic_store_explicit(&board->nodes[node].is_ready, 1, memory_order_release);
    }
    if (context->port == context->meeting.first) {
        fill_head(context, board);
    }
}
