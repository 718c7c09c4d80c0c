/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks at requests, and does the part of this process in what it has orders for.
 * Called by the process that owns the context.
 */
#include "libbcs/api/message/completion.h"

#include "libbcs/api/message/orders.h"
#include "libbcs/api/message/request_fetch.h"

bool bcs_look(struct bcs_context *context, struct bcs_request *request)
{
    return bcs_is_done(request) || bcs_complete(context, request);
}

void bcs_note_collective(struct bcs_context *context, const struct bcs_request *request)
{
    if (context->stamps.is_on) {
        bcs_stamps_note(&context->stamps, bcs_request_state(request)->stamp,
                        BCS_STAMP_CAUSE_COLLECTIVE);
    }
}

/** Do what a cell's operation can do now. @return whether it needs this process again
 *  without another order */
static bool serve(struct bcs_context *context, uint32_t id)
{
    const struct bcs_cell *cell = bcs_poster_cell_at(&context->poster, id);

    if (context->pending[id].request == NULL) { /* see bcs_context_abandon */
        return false;
    }
    switch (bcs_cell_state(cell)) {
    case BCS_CELL_LOAD:
    case BCS_CELL_STORE:
    case BCS_CELL_TRANSFER:
    case BCS_CELL_HELD:
    case BCS_CELL_AWAITED:
    case BCS_CELL_CLOSING:
    case BCS_CELL_SOURCE:
        return !bcs_look(context, context->pending[id].request) &&
               bcs_cell_state(cell) != BCS_CELL_PENDING;
    default:
        return false; /* over, or not begun: the order was for an earlier operation */
    }
}

void bcs_serve_orders(struct bcs_context *context)
{
    uint32_t n_kept = 0;

    for (uint32_t i = 0; i < context->n_ordered; i++) {
        uint32_t id = context->ordered[i];
        if (serve(context, id)) {
            context->ordered[n_kept++] = id;
        } else {
            context->pending[id].is_ordered = false;
        }
    }
    context->n_ordered = n_kept;
    if (n_kept > 0) {
        bcs_orders_expect(context);
    }
}
