/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completing by way of orders, and at the next strobe; see the header.
 */
#include "nic_threads/node/completing.h"

#include "libbcs/fabric/ring/order_table.h"

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
