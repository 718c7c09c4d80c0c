/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting, as all API calls do it: loop over a look at what is wanted and bcs_wait_turn, then
 * bcs_wait_stop. Whoever waits or tests moves on what else is pending in this process: what
 * that is stands in one list, context->movers (movers.c), so that nothing here has to know it.
 * Internal; called by the process that owns the context, one thread at a time.
 */
#ifndef BCS_API_WAIT_H
#define BCS_API_WAIT_H

#include "libbcs/api/context.h"

/** Take new orders, and go on with all that context->movers name. */
void bcs_wait_move(struct bcs_context *context);

/** This process's part of what is pending beside the operation that a call is about. One
 *  comparison finds whether there is any: n_orders_idle is the number of orders as long as
 *  nothing has to go on. @return whether there is */
static inline bool bcs_wait_progress(struct bcs_context *context)
{
    /* relaxed: bcs_orders_take acquires */
    bool has_work =
        atomic_load_explicit(&context->poster.port->n_orders, memory_order_relaxed) !=
        context->n_orders_idle;

    if (__builtin_expect(has_work, 0)) {
        bcs_wait_move(context);
    }
    return has_work;
}

/** Move what can be moved at once, for a caller that polls: it then looks once more if anything
 *  was moved, and calls bcs_wait_in_vain if it finds nothing. @return whether anything was */
bool bcs_progress(struct bcs_context *context);

/** One turn of a wait, with what else has to happen meanwhile in this process. */
void bcs_wait_turn(struct bcs_context *context, struct nic_waiter *waiter);

/** A caller that polls has found nothing: look elsewhere and yield the core now and then. */
void bcs_wait_in_vain(struct bcs_context *context);

static inline void bcs_wait_stop(struct bcs_context *context, struct nic_waiter *waiter)
{
    context->driver->stop(context->engine, waiter);
}

#endif
