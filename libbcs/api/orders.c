/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The list of what has been ordered; see orders.h.
 */
#include "libbcs/api/orders.h"

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

void bcs_orders_take(struct bcs_context *context)
{
    struct bcs_poster *poster = &context->poster;
    uint32_t first = poster->n_orders_seen;
    /* acquire: pairs with the release in nic_view_remind */
    uint32_t n = atomic_load_explicit(&poster->port->n_orders, memory_order_acquire);

    for (uint32_t i = first; i != n && n - first <= poster->order_mask; i++) {
        add_ordered(context, __atomic_load_n(&poster->orders[i & poster->order_mask],
                                             __ATOMIC_RELAXED));
    }
    atomic_thread_fence(
        memory_order_acquire); /* the entries are read before the count */
    /* The entry behind the last one is written before it is counted: with as many as there are
     * entries it may be the first one's already. */
    if (atomic_load_explicit(&poster->port->n_orders, memory_order_relaxed) - first >
        poster->order_mask) {
        /* Some have been overwritten. */
        for (uint32_t id = 0; id < poster->n_cells_touched && id < context->n_pending;
             id++) {
            add_ordered(context, id);
        }
    }
    poster->n_orders_seen = n;
    context->n_orders_idle = n;
}
