/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a completion may need beside its result: a payload from a block, a chunk to
 * copy, an end. Called by the process that owns the context.
 */
#include "libbcs/api/message/request_fetch.h"

static void fetch_block(struct bcs_context *context, const struct bcs_request *request,
                        const struct bcs_cell *cell)
{
    struct bcs_block *block = bcs_poster_block_at(&context->poster, cell->address);

    bcs_request_store(request, 0, bcs_request_received(request, cell), block->data);
    bcs_block_free(block);
}

static void finish_cancelled(struct bcs_context *context, struct bcs_request *request)
{
    request->result = (struct bcs_result){
        .source = BCS_ANY_SOURCE, .tag = BCS_ANY_TAG, .error = BCS_E_CANCELLED};
    bcs_request_retire(context, request);
}

/** Do this process's part of a completion that needs more than taking over the result.
 *  @return whether the operation is over */
static bool advance(struct bcs_context *context, struct bcs_request *request,
                    struct bcs_cell *cell, enum bcs_cell_state state)
{
    switch (state) {
    case BCS_CELL_STAMPED:
        bcs_request_fetch(request, cell);
        return true;
    case BCS_CELL_BLOCK:
        fetch_block(context, request, cell);
        return true;
    case BCS_CELL_TRANSFER:
    case BCS_CELL_HELD:
    case BCS_CELL_AWAITED:
    case BCS_CELL_CLOSING:
        return bcs_transfer_pull(context, cell, request);
    case BCS_CELL_SOURCE:
        return bcs_transfer_push(context, cell, request);
    case BCS_CELL_LOAD:
        return bcs_transfer_load(context, cell, request);
    case BCS_CELL_STORE:
        return bcs_transfer_store(context, cell, request);
    default:
        return state == BCS_CELL_DONE;
    }
}

bool bcs_complete_further(struct bcs_context *context, struct bcs_request *request,
                          struct bcs_cell *cell, enum bcs_cell_state state)
{
    if (state == BCS_CELL_CANCELLED) {
        finish_cancelled(context, request);
        return true;
    }
    if (!advance(context, request, cell, state)) {
        return false;
    }
    if (context->stamps.is_on) {
        bcs_stamps_note(&context->stamps, cell->stamp,
                        bcs_request_state(request)->is_send ? BCS_STAMP_CAUSE_RECEIVER
                                                            : BCS_STAMP_CAUSE_SENDER);
        bcs_request_state(request)->stamp = cell->stamp; /* see bcs_plan_advance */
    }
    bcs_request_finish(context, request, cell);
    return true;
}
