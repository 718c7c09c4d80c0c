/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Point-to-point calls: fill a descriptor, and fetch what the engine has completed. Called
 * by the process that owns the context, one thread at a time. [BCS-MPI table 4.1]
 */
#include "libbcs/api/p2p.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "libbcs/api/post.h"
#include "libbcs/api/transfer.h"

enum { MISSES_A_YIELD = 64 };

static inline void copy_short(void *to, const void *from, size_t n_bytes)
{
    if (n_bytes == 8) {
        memcpy(to, from, 8);
    } else {
        memcpy(to, from, n_bytes);
    }
}

/** Put the payload into NIC memory. @return whether it went, so that the send is done */
static inline bool buffer_payload(struct bcs_context *context,
                                  struct bcs_descriptor *entry, const void *data,
                                  size_t n_bytes)
{
    if (n_bytes <= BCS_INLINE_BYTES) {
        entry->flags = BCS_DATA_INLINE;
        copy_short(entry->payload, data, n_bytes);
        return true;
    }
    if (n_bytes <= context->config.eager_limit_bytes) {
        uint64_t block = bcs_poster_block(&context->poster, n_bytes);
        if (block != 0) {
            entry->flags = BCS_DATA_BLOCK;
            entry->address = block;
            memcpy(bcs_block_at(context->poster.base, block)->data, data, n_bytes);
            return true;
        }
    }
    entry->address = (uint64_t)(uintptr_t)data;
    return false;
}

/** Let bcs_serve_orders find a request by its cell. */
static inline void remember(struct bcs_context *context, struct bcs_request *request)
{
    if (context->pending != NULL && request->cell != BCS_CELL_NONE) {
        context->pending[request->cell] = request;
    }
}

/** Fill a send's descriptor, unpublished. @return NULL: no cell is free */
static inline struct bcs_descriptor *prepare_send(struct bcs_context *context,
                                                  const struct bcs_message *message,
                                                  enum bcs_send_mode mode,
                                                  uint32_t *cell_out)
{
    const struct bcs_group *group = message->group;
    struct bcs_descriptor *entry = bcs_post_begin(context, BCS_SEND);
    bool is_buffered;

    entry->context_id = message->context_id;
    entry->port = group->ports[message->peer];
    entry->source = group->rank;
    entry->tag = message->tag;
    entry->n_bytes = message->n_bytes;
    entry->cell = BCS_CELL_NONE;
    is_buffered = buffer_payload(context, entry, message->data, message->n_bytes);
    entry->flags |= message->will_wait ? BCS_WAITING : 0;
    if (!is_buffered || mode == BCS_SEND_SYNCHRONOUS) {
        entry->cell = bcs_poster_cell(&context->poster);
        if (entry->cell == BCS_CELL_NONE) {
            return NULL;
        }
        entry->flags |= mode == BCS_SEND_SYNCHRONOUS ? BCS_SYNCHRONOUS : 0;
    }
    *cell_out = entry->cell;
    return entry;
}

int bcs_isend(struct bcs_context *context, const struct bcs_message *message,
              enum bcs_send_mode mode, struct bcs_request *request_out)
{
    uint32_t cell;
    struct bcs_descriptor *entry = prepare_send(context, message, mode, &cell);

    if (entry == NULL) {
        return -ENOMEM;
    }
    *request_out = (struct bcs_request){
        .data = message->data,
        .n_bytes = message->n_bytes,
        .cell = cell,
        .is_done = cell == BCS_CELL_NONE,
        .is_send = true,
        .result = {.source = BCS_ANY_SOURCE, .tag = BCS_ANY_TAG},
    };
    remember(context, request_out);
    bcs_post_kick(context, entry);
    return 0;
}

/** Fill a receive's descriptor, unpublished. @return NULL: no cell is free */
static inline struct bcs_descriptor *prepare_receive(struct bcs_context *context,
                                                     const struct bcs_message *message,
                                                     struct bcs_request *request_out)
{
    struct bcs_descriptor *entry = bcs_post_begin(context, BCS_RECEIVE);

    entry->cell = bcs_poster_cell(&context->poster);
    if (entry->cell == BCS_CELL_NONE) {
        return NULL;
    }
    entry->context_id = message->context_id;
    entry->source = message->peer;
    entry->tag = message->tag;
    entry->n_bytes = message->n_bytes;
    entry->address = (uint64_t)(uintptr_t)message->data;
    request_out->data = message->data;
    request_out->n_bytes = message->n_bytes;
    request_out->cell = entry->cell;
    request_out->is_done = false;
    request_out->is_send = false;
    remember(context, request_out);
    return entry;
}

int bcs_irecv(struct bcs_context *context, const struct bcs_message *message,
              struct bcs_request *request_out)
{
    struct bcs_descriptor *entry = prepare_receive(context, message, request_out);

    if (entry == NULL) {
        return -ENOMEM;
    }
    bcs_post_kick(context, entry);
    return 0;
}

int bcs_imrecv(struct bcs_context *context, const struct bcs_message *message,
               uint32_t item, struct bcs_request *request_out)
{
    struct bcs_descriptor *entry = prepare_receive(context, message, request_out);

    if (entry == NULL) {
        return -ENOMEM;
    }
    entry->flags = BCS_TAKE;
    entry->chunk.block = entry->address;
    entry->address = item;
    bcs_post_kick(context, entry);
    return 0;
}

void bcs_cancel(struct bcs_context *context, const struct bcs_request *request)
{
    struct bcs_descriptor *entry;

    if (request->is_done || request->is_send) {
        return;
    }
    entry = bcs_post_begin(context, BCS_CANCEL);
    entry->cell = request->cell;
    bcs_post_kick(context, entry);
}

/** The operation is over: its cell may serve another one. */
static inline void retire(struct bcs_context *context, struct bcs_request *request)
{
    request->is_done = true;
    if (context->pending != NULL) {
        context->pending[request->cell] = NULL;
    }
    bcs_poster_free_cell(&context->poster, request->cell);
}

/** Take over a completed cell's result. */
static inline void finish(struct bcs_context *context, struct bcs_request *request,
                          const struct bcs_cell *cell)
{
    size_t n_bytes = cell->n_bytes < request->n_bytes ? cell->n_bytes : request->n_bytes;

    if (!request->is_send) {
        request->result.source = cell->source;
        request->result.tag = cell->tag;
        request->result.n_bytes = n_bytes;
        request->result.error = cell->n_bytes > request->n_bytes ? BCS_E_TRUNCATED : 0;
    }
    retire(context, request);
}

static void fetch_block(struct bcs_context *context, const struct bcs_request *request,
                        const struct bcs_cell *cell)
{
    struct bcs_block *block = bcs_block_at(context->poster.base, cell->address);
    size_t n_bytes = cell->n_bytes < request->n_bytes ? cell->n_bytes : request->n_bytes;

    memcpy(request->data, block->data, n_bytes);
    bcs_block_free(block);
}

static void finish_cancelled(struct bcs_context *context, struct bcs_request *request)
{
    request->result = (struct bcs_result){
        .source = BCS_ANY_SOURCE, .tag = BCS_ANY_TAG, .error = BCS_E_CANCELLED};
    retire(context, request);
}

/** Do this process's part of a completion that needs more than taking over the result.
 *  @return whether the operation is over */
static bool advance(struct bcs_context *context, struct bcs_request *request,
                    struct bcs_cell *cell, enum bcs_cell_state state)
{
    switch (state) {
    case BCS_CELL_BLOCK:
        fetch_block(context, request, cell);
        return true;
    case BCS_CELL_TRANSFER:
        context->is_moving = true;
        return bcs_transfer_pull(context, cell);
    case BCS_CELL_SOURCE:
        context->is_moving = true;
        return bcs_transfer_push(context, cell, request->data);
    case BCS_CELL_LOAD:
        return bcs_transfer_load(context, cell, request->data);
    case BCS_CELL_STORE:
        return bcs_transfer_store(context, cell, request->data);
    default:
        return state == BCS_CELL_DONE;
    }
}

static inline bool look(struct bcs_context *context, struct bcs_request *request)
{
    struct bcs_cell *cell = &context->poster.cells[request->cell];
    enum bcs_cell_state state = bcs_cell_state(cell);

    if (state == BCS_CELL_PENDING) {
        return false;
    }
    if (state == BCS_CELL_INLINE) {
        copy_short(request->data, cell->payload,
                   cell->n_bytes < request->n_bytes ? cell->n_bytes : request->n_bytes);
    } else if (state == BCS_CELL_CANCELLED) {
        finish_cancelled(context, request);
        return true;
    } else if (!advance(context, request, cell, state)) {
        return false;
    }
    finish(context, request, cell);
    return true;
}

bool bcs_look(struct bcs_context *context, struct bcs_request *request)
{
    return request->is_done || look(context, request);
}

void bcs_serve_orders(struct bcs_context *context)
{
    struct bcs_poster *poster = &context->poster;

    /* acquire: pairs with the release in give_order */
    while (poster->n_orders_seen !=
           atomic_load_explicit(&poster->port->n_orders, memory_order_acquire)) {
        uint32_t id = poster->orders[poster->n_orders_seen % poster->n_cells];
        struct bcs_request *request = context->pending[id];
        enum bcs_cell_state state = bcs_cell_state(&poster->cells[id]);

        if (request != NULL && !request->is_done && request->cell == id &&
            (state == BCS_CELL_LOAD || state == BCS_CELL_STORE) &&
            !look(context, request) && bcs_cell_state(&poster->cells[id]) == state) {
            return; /* no block is free: later */
        }
        poster->n_orders_seen++;
    }
}

static inline void wait_for(struct bcs_context *context, struct bcs_request *request)
{
    struct nic_waiter waiter = {0};

    while (!request->is_done && !look(context, request)) {
        bcs_wait_turn(context, &waiter);
    }
    bcs_wait_stop(context, &waiter);
}

int bcs_wait(struct bcs_context *context, struct bcs_request *request)
{
    if (!request->is_done) {
        wait_for(context, request);
    }
    return 0;
}

void bcs_progress(struct bcs_context *context)
{
    nic_engine_turn(context->engine);
    if (context->pending != NULL) {
        bcs_serve_orders(context);
    }
    if (++context->n_misses % MISSES_A_YIELD == 0) {
        if (context->idle != NULL) {
            context->idle();
        }
        sched_yield();
    }
}

bool bcs_test(struct bcs_context *context, struct bcs_request *request)
{
    if (bcs_look(context, request)) {
        return true;
    }
    bcs_progress(context);
    return bcs_look(context, request);
}

int bcs_send(struct bcs_context *context, const struct bcs_message *message,
             enum bcs_send_mode mode)
{
    uint32_t cell;
    struct bcs_descriptor *entry = prepare_send(context, message, mode, &cell);

    if (entry == NULL) {
        return -ENOMEM;
    }
    if (cell == BCS_CELL_NONE) {
        bcs_post_kick(context, entry);
    } else {
        struct bcs_request request = {
            .data = message->data, .n_bytes = message->n_bytes, .cell = cell,
            .is_send = true};
        remember(context, &request);
        bcs_post_end(context, entry);
        wait_for(context, &request);
    }
    return 0;
}

int bcs_recv(struct bcs_context *context, const struct bcs_message *message,
             struct bcs_result *result_out)
{
    struct bcs_request request;
    struct bcs_descriptor *entry = prepare_receive(context, message, &request);

    if (entry == NULL) {
        return -ENOMEM;
    }
    bcs_post_end(context, entry);
    wait_for(context, &request);
    *result_out = request.result;
    return request.result.error;
}

int bcs_probe(struct bcs_context *context, const struct bcs_message *message,
              const struct bcs_probe *probe, struct bcs_result *result_out,
              uint32_t *item_out)
{
    struct bcs_request request = {0};
    struct bcs_descriptor *entry = prepare_receive(context, message, &request);
    struct nic_waiter waiter = {0};
    struct bcs_cell *cell;
    enum bcs_cell_state state;

    if (entry == NULL) {
        return -ENOMEM;
    }
    entry->kind = BCS_PROBE;
    entry->flags = (uint8_t)((probe->is_waiting ? 0 : BCS_NOW) |
                             (probe->is_taking ? BCS_TAKE : 0));
    bcs_post_end(context, entry);
    cell = &context->poster.cells[request.cell];
    while ((state = bcs_cell_state(cell)) == BCS_CELL_PENDING) {
        bcs_wait_turn(context, &waiter);
    }
    bcs_wait_stop(context, &waiter);
    *result_out = (struct bcs_result){
        .source = cell->source, .tag = cell->tag, .n_bytes = cell->n_bytes};
    *item_out = (uint32_t)cell->address;
    retire(context, &request);
    if (state == BCS_CELL_FAILED && ++context->n_misses % MISSES_A_YIELD == 0) {
        sched_yield();
    }
    return state == BCS_CELL_FAILED ? BCS_E_PENDING : 0;
}
