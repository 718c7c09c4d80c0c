/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fetching what the engine has completed: the part that the blocking calls of p2p.c
 * inline, since most often one look is enough. Internal to libbcs/api; called by the
 * process that owns the context.
 */
#ifndef LIBBCS_API_MESSAGE_REQUEST_FETCH_H
#define LIBBCS_API_MESSAGE_REQUEST_FETCH_H

#include <string.h>

#include "libbcs/api/context/context.h"
#include "libbcs/api/message/transfer.h"
#include "nic_threads/drivers/pending_desks.h"

/** The rest of bcs_complete: a completion that is not just a payload in its cell. */
bool bcs_complete_further(struct bcs_context *context, struct bcs_request *request,
                          struct bcs_cell *cell, enum bcs_cell_state state);

static inline void bcs_copy_short(void *to, const void *from, size_t n_bytes)
{
    if (n_bytes == 8) {
        memcpy(to, from, 8);
    } else if (n_bytes != 0) { /* a message without data may have no address */
        memcpy(to, from, n_bytes);
    }
}

/** The operation is over: its cell may serve another one. */
static inline void bcs_request_retire(struct bcs_context *context,
                                      struct bcs_request *request)
{
    struct bcs_request_state *inside = bcs_request_state(request);

    inside->is_pending = false;
    if (inside->is_send) {
        nic_engine_end_pending(context->engine);
    }
    bcs_poster_free_cell(&context->poster, inside->cell);
}

/** Bytes that a receive gets. */
static inline size_t bcs_request_received(const struct bcs_request *request,
                                          const struct bcs_cell *cell)
{
    size_t room = bcs_request_state(request)->n_bytes;

    return cell->n_bytes < room ? cell->n_bytes : room;
}

/** Take over a completed cell's result. */
static inline void bcs_request_finish(struct bcs_context *context,
                                      struct bcs_request *request,
                                      const struct bcs_cell *cell)
{
    if (!bcs_request_state(request)->is_send) {
        request->result.source = cell->source;
        request->result.tag = cell->tag;
        request->result.n_bytes = bcs_request_received(request, cell);
        request->result.error = 0;
        if (__builtin_expect(cell->n_bytes > bcs_request_state(request)->n_bytes, 0)) {
            bcs_result_truncate(&request->result, cell->n_bytes);
        }
    }
    bcs_request_retire(context, request);
}

static inline void bcs_request_fetch(const struct bcs_request *request,
                                     const struct bcs_cell *cell)
{
    const struct bcs_request_state *inside = bcs_request_state(request);

    if (__builtin_expect(inside->layout == NULL, 1)) {
        bcs_copy_short(inside->data, cell->payload,
                       bcs_request_received(request, cell));
    } else {
        bcs_request_store(request, 0, bcs_request_received(request, cell),
                          cell->payload);
    }
}

/** bcs_look at a request that is not done. */
static inline bool bcs_complete(struct bcs_context *context,
                                struct bcs_request *request)
{
    const struct bcs_request_state *inside = bcs_request_state(request);
    enum bcs_cell_state state;
    struct bcs_cell *cell;

    if (__builtin_expect(inside->is_collective, 0)) {
        return !inside->is_pending; /* bcs_plans_move sets it; there is no cell */
    }
    cell = bcs_poster_cell_at(&context->poster, inside->cell);
    state = bcs_cell_state(cell);
    if (state == BCS_CELL_PENDING) {
        return false;
    }
    if (state != BCS_CELL_INLINE) {
        return bcs_complete_further(context, request, cell, state);
    }
    bcs_request_fetch(request, cell);
    bcs_request_finish(context, request, cell);
    return true;
}

#endif
