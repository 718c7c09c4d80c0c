/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Taking operations back. A receive: the engine does it in the order in which it was
 * asked, and completes the receive as cancelled, if no message has matched it before. A
 * send: this process does it by itself, at the desk of the receiver, and knows at once,
 * or has it done by a thread of the receiver's node, and waits for the answer
 * (nic_threads/drivers/withdraw.h). Called by the process that owns the context, one
 * thread at a time.
 */
#include "libbcs/api/message/completion.h"
#include "libbcs/api/message/orders.h"
#include "libbcs/api/message/p2p.h"
#include "libbcs/api/message/post.h"
#include "libbcs/api/message/request_fetch.h"
#include "libbcs/api/message/wait.h"
#include "libbcs/api/record/stand_tell.h"
#include "libbcs/fabric/base/clock.h"
#include "nic_threads/drivers/withdraw.h"
#include "nic_threads/node/node.h"

/* How long to wait in any case: others may have the cores for some time, and the
 * entries behind a send that finds no room wait with it. */
#define CANCEL_NS 1000000000u

enum { MOST_SLICES = 2 }; /* once the engine has carried a cancellation out */

/** When a cancellation was seen to be carried out. */
struct carried_out {
    uint64_t slice;
    uint64_t at_ns; /* 0: not yet */
};

void bcs_cancel(struct bcs_context *context, const struct bcs_request *request)
{
    const struct bcs_request_state *inside = bcs_request_state(request);
    struct bcs_ring_writer *ring = bcs_post_own(context);
    struct bcs_descriptor *entry;

    if (!inside->is_pending || inside->is_send) {
        return;
    }
    entry = bcs_post_begin(context, ring, BCS_CANCEL);
    entry->cell = inside->cell;
    bcs_post_kick(context, ring, entry);
}

/**
 * Whether a receive that is not done although its cancellation has been carried out has
 * been matched before, and is not going to be over without its sender. With timed
 * strobes the engine knows more than it has said: that comes with the next strobe,
 * which may be late, unless no strobe is needed. (timer_rests is set for a moment, too,
 * while that is found out.)
 */
static bool needs_others(const struct bcs_context *context,
                         const struct carried_out *carried_out, uint64_t now_ns)
{
    const struct nic_engine *engine = context->engine;
    bool has_waited =
        now_ns - carried_out->at_ns >= MOST_SLICES * engine->config->slice_ns;

    if (!engine->is_timed) {
        return has_waited;
    }
    /* relaxed: a hint */
    return nic_engine_slice(context->engine) - carried_out->slice >= MOST_SLICES ||
           (has_waited && atomic_load_explicit(&engine->machine->timer_rests,
                                               memory_order_relaxed) != 0);
}

void bcs_cancel_wait(struct bcs_context *context, struct bcs_request *request)
{
    const struct bcs_ring_writer *ring = bcs_post_own(context);
    struct bcs_waiter waiter = {.has_short_sleeps = true};
    struct carried_out carried_out = {0};
    uint32_t position = ring->position;
    uint64_t begin_ns = bcs_clock_now_ns(), now_ns = begin_ns;

    while (!bcs_look(context, request)) {
        if (carried_out.at_ns == 0 && bcs_ring_is_consumed(ring, position)) {
            carried_out =
                (struct carried_out){nic_engine_slice(context->engine), now_ns};
        }
        if (now_ns - begin_ns >= CANCEL_NS ||
            (carried_out.at_ns != 0 && needs_others(context, &carried_out, now_ns))) {
            break;
        }
        if (bcs_wait_turn(context, &waiter)) {
            bcs_stand_at_other(context, &waiter);
        }
        now_ns = bcs_clock_now_ns();
    }
    bcs_wait_stop(context, &waiter);
}

/** A send has been taken back: nobody gets its data. */
static void finish_send(struct bcs_context *context, struct bcs_request *request,
                        const struct nic_recall *recall)
{
    if (recall->block_gva != 0) {
        bcs_block_free(bcs_poster_block_at(&context->poster, recall->block_gva));
    }
    if (bcs_request_state(request)->is_pending) {
        bcs_request_retire(context, request);
    }
    request->result = (struct bcs_result){
        .source = BCS_ANY_SOURCE, .tag = BCS_ANY_TAG, .error = BCS_E_CANCELLED};
    /* there may be room again for what was held back */
    context->driver->kick(context->engine,
                          bcs_post_to(context, recall->receiver)->reader);
}

/** Withdraw a send, turn by turn. */
static enum nic_withdrawn withdraw(struct bcs_context *context,
                                   struct nic_recall *recall)
{
    struct bcs_waiter waiter = {.has_short_sleeps = true};
    enum nic_withdrawn outcome;

    while ((outcome = nic_withdraw(context->engine, recall)) == NIC_WITHDRAWN_NOT_YET) {
        if (bcs_wait_turn(context, &waiter)) {
            bcs_stand_at_other(context, &waiter);
        }
    }
    bcs_wait_stop(context, &waiter);
    return outcome;
}

/** Leave a send as it is, though somebody may have an order for it, so that its cell
 *  names no other one. */
static void keep(struct bcs_context *context, const struct nic_recall *recall)
{
    if (bcs_is_cell(recall->cell)) {
        context->pending[recall->cell].request = NULL;
    }
}

/** Go on with it. */
static void go_on(struct bcs_context *context, const struct nic_recall *recall,
                  struct bcs_request *request)
{
    if (bcs_is_cell(recall->cell)) {
        context->pending[recall->cell].request = request;
        bcs_order_self(context, recall->cell); /* one may have come meanwhile */
    }
}

bool bcs_cancel_send(struct bcs_context *context, struct bcs_request *request,
                     uint32_t port)
{
    struct nic_recall recall = {.sender = context->port,
                                .receiver = port,
                                .cell = bcs_request_state(request)->cell};

    if (bcs_is_cell(recall.cell) && bcs_is_done(request)) {
        return false; /* its cell may be that of another operation now */
    }
    keep(context, &recall);
    if (withdraw(context, &recall) != NIC_WITHDRAWN) {
        go_on(context, &recall, request);
        return false;
    }
    finish_send(context, request, &recall);
    return true;
}
