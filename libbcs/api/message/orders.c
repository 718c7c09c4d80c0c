/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The list of what has been ordered; see orders.h.
 */
#include "libbcs/api/message/orders.h"

static void add_ordered(struct bcs_context *context, uint32_t id)
{
    if (!context->pending[id].is_ordered) {
        context->pending[id].is_ordered = true;
        context->ordered[context->n_ordered++] = id;
    }
}

void bcs_order_self(struct bcs_context *context, uint32_t cell)
{
    add_ordered(context, cell);
    bcs_orders_expect(context);
}

/** Some orders were overwritten: look at all cells. */
static void add_all(struct bcs_context *context)
{
    uint32_t n = context->poster.n_cells_touched;

    for (uint32_t id = 0; id < n && id < context->n_pending; id++) {
        add_ordered(context, id);
    }
}

void bcs_orders_take(struct bcs_context *context)
{
    struct bcs_poster *poster = &context->poster;
    enum bcs_order_state state = BCS_ORDER_IS_HERE;
    uint32_t at = poster->n_orders_seen, cell;
    /* acquire: pairs with the count in bcs_order_give */
    uint32_t n = atomic_load_explicit(&poster->port->n_orders, memory_order_acquire);

    while (at != n &&
           (state = bcs_order_find(&poster->orders, at, &cell)) == BCS_ORDER_IS_HERE) {
        add_ordered(context, cell);
        at++;
    }
    if (state == BCS_ORDER_IS_LOST) {
        add_all(context);
        at = n;
    }
    poster->n_orders_seen = at;
    context->n_orders_idle = at; /* one that comes is looked for again */
}
