/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Orders: transfers that need this process, which may be waiting for something else. The
 * engine enters their cells into the port's order table; from there they come into
 * context->ordered, and every turn of a wait does what can be done for them, until they
 * are over. Called by the process that owns the context.
 */
#include "libbcs/api/p2p.h"
#include "libbcs/api/post.h"

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
    bcs_post_expect(context);
}

/** Take notice of new orders. */
static void take_orders(struct bcs_context *context)
{
    struct bcs_poster *poster = &context->poster;
    uint32_t first = poster->n_orders_seen;
    /* acquire: pairs with the release in nic_view_remind */
    uint32_t n = atomic_load_explicit(&poster->port->n_orders, memory_order_acquire);

    for (uint32_t i = first; i != n && n - first < poster->n_cells; i++) {
        add_ordered(context, __atomic_load_n(&poster->orders[i % poster->n_cells],
                                             __ATOMIC_RELAXED));
    }
    atomic_thread_fence(memory_order_acquire); /* the entries are read before the count */
    /* The entry behind the last one is written before it is counted: with as many as there are
     * entries it may be the first one's already. */
    if (atomic_load_explicit(&poster->port->n_orders, memory_order_relaxed) - first >=
        poster->n_cells) {
        /* Some have been overwritten, since their operations did not have to wait. */
        for (uint32_t id = 0; id < poster->n_cells_touched; id++) {
            add_ordered(context, id);
        }
    }
    poster->n_orders_seen = n;
}

/** Do what a cell's operation can do now. @return whether it needs this process again
 *  without another order */
static bool serve(struct bcs_context *context, uint32_t id)
{
    const struct bcs_cell *cell = &context->poster.cells[id];

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

    take_orders(context);
    for (uint32_t i = 0; i < context->n_ordered; i++) {
        uint32_t id = context->ordered[i];
        if (serve(context, id)) {
            context->ordered[n_kept++] = id;
        } else {
            context->pending[id].is_ordered = false;
        }
    }
    context->n_ordered = n_kept;
}
