/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Orders: transfers that need this process, which may be waiting for something else.
 * The engine enters their cells into the port's order table; from there they come into
 * context->ordered, and every turn of a wait does what can be done for them, until
 * they are over (completion.h, bcs_serve_orders). Internal to libbcs/api; called by
 * the process that owns the context.
 */
#ifndef LIBBCS_API_MESSAGE_ORDERS_H
#define LIBBCS_API_MESSAGE_ORDERS_H

#include "libbcs/api/context/context.h"

/** From now on there is something to move, also without a new order. */
static inline void bcs_orders_expect(struct bcs_context *context)
{
    context->n_orders_idle = context->poster.n_orders_seen - 1;
}

/** Take notice of new orders. Until the next one, nothing is to be moved unless
 *  bcs_orders_expect is called. */
void bcs_orders_take(struct bcs_context *context);

/** Have bcs_serve_orders look at the operation of one of this process's cells. */
void bcs_order_self(struct bcs_context *context, uint32_t cell);

#endif
