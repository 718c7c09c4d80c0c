/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completions and what they need. Called by the roles, under the lock of the view's desk.
 */
#include "nic_threads/node/node.h"

#include <stdlib.h>

#include "libbcs/fabric/base/align.h"
#include "libbcs/fabric/base/log.h"
#include "libbcs/fabric/base/notice.h"
#include "libbcs/fabric/ring/order_table.h"

void nic_view_queue_block(const struct nic_view *view, uint64_t *first, uint64_t *last,
                          uint64_t gva)
{
    nic_view_block(view, gva)->next = 0;
    if (*first == 0) {
        *first = gva;
    } else {
        nic_view_block(view, *last)->next = gva;
    }
    *last = gva;
}

struct bcs_stands *nic_engine_stands(const struct nic_engine *engine, uint32_t port)
{
    return nic_view_at(nic_engine_view(engine, port),
                       nic_layout_stands_gva(&engine->layout, port));
}

struct bcs_cell *nic_view_later_cell(const struct nic_view *view, uint32_t port,
                                     uint32_t cell)
{
    return bcs_core_address(view->core,
                            nic_layout_cell_gva(&view->engine->layout, port, cell));
}

void nic_view_make_scratch(struct nic_view *view)
{
    size_t n_ports = view->engine->layout.shape.n_ports;
    size_t n_bytes = bcs_align_up(n_ports * BCS_INLINE_BYTES, BCS_CACHE_LINE);

    view->scratch = aligned_alloc(BCS_CACHE_LINE, n_bytes);
    if (view->scratch == NULL) {
        bcs_error("no memory for the operands of %zu ranks, %zu bytes", n_ports,
                  n_bytes);
        abort();
    }
}

void nic_view_remind(struct nic_view *view, uint32_t port, uint32_t cell)
{
    const struct nic_layout *layout = &view->engine->layout;
    struct bcs_port *owner = nic_view_port(view, port - view->first_port);
    const struct bcs_order_table table = {
        .entries = nic_view_at(view, nic_layout_order_gva(layout, port)),
        .mask = layout->shape.limits.orders - 1,
    };

    bcs_order_give(&owner->n_orders, &table, cell);
    nic_view_touch(view, port);
}

void nic_view_order(struct nic_view *view, uint32_t port, uint32_t cell,
                    enum bcs_cell_state state)
{
    bcs_cell_complete(nic_view_cell(view, port, cell), state);
    nic_view_remind(view, port, cell);
}

void nic_view_hold(const struct nic_view *view)
{
    bool is_own = view->engine->layout.shape.desk_ranks == 1;

    bcs_notice(BCS_NOTICE_MESSAGES_KEPT,
               "%s %u keeps %u messages that nobody has received, as many as it may",
               is_own ? "rank" : "node",
               is_own ? nic_view_served(view, 0) : view->index, nic_send_limit(view));
}

void nic_view_defer(struct nic_view *view, uint32_t port, uint32_t id,
                    enum bcs_cell_state state)
{
    uint32_t seat = nic_view_seat(view, port);
    struct nic_list *deferred = &view->per_port.deferred[seat];
    struct bcs_cell *cell = nic_view_cell(view, port, id);

    cell->next_deferred = BCS_CELL_NONE;
    cell->deferred_state = state;
    if (deferred->first == BCS_CELL_NONE) {
        deferred->first = id;
        nic_mark(view->per_port.has_deferred, seat);
    } else {
        nic_view_cell(view, port, deferred->last)->next_deferred = id;
    }
    deferred->last = id;
}

/** Complete the deferred cells of a port. */
static void deliver_to(struct nic_view *view, uint32_t seat)
{
    struct nic_list *deferred = &view->per_port.deferred[seat];
    uint32_t port = nic_view_served(view, seat), id = deferred->first;

    deferred->first = BCS_CELL_NONE;
    while (id != BCS_CELL_NONE) {
        struct bcs_cell *cell = nic_view_cell(view, port, id);

        id = cell->next_deferred; /* the cell is its owner's from the next line on */
        nic_view_complete_now(view, port, cell,
                              (enum bcs_cell_state)cell->deferred_state);
    }
}

void nic_view_deliver(struct nic_view *view)
{
    nic_view_take_marks(view, view->per_port.has_deferred, view->n_served, deliver_to);
}
