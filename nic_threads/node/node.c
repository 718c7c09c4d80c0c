/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Items and completions. Called by the roles, under the lock of the view's node.
 */
#include "nic_threads/node/node.h"

#include <stdlib.h>
#include <string.h>

#include "libbcs/base/log.h"
#include "libbcs/base/notice.h"

/** Count an item in or out if it holds a send. */
static void count_kept(struct nic_node *node, const struct nic_item *item, int32_t n)
{
    if (item->descriptor.kind == BCS_SEND) {
        __atomic_store_n(&node->n_sends_kept, node->n_sends_kept + (uint32_t)n,
                         __ATOMIC_RELAXED);
    }
}

uint32_t nic_item_new(struct nic_view *view, const struct bcs_descriptor *descriptor,
                      uint32_t port)
{
    struct nic_node *node = view->node;
    uint32_t id = node->free_item;

    if (id != NIC_ITEM_NONE) {
        node->free_item = view->items[id].next;
    } else if (node->items_touched < view->engine->layout.n_items) {
        id = node->items_touched++;
    } else {
        bcs_error(
            "more than %u operations are pending on a node; raise BCS_DESCRIPTORS",
            view->engine->layout.n_items);
        abort();
    }
    memcpy(&view->items[id].descriptor, descriptor, sizeof(*descriptor));
    view->items[id].port = port;
    count_kept(node, &view->items[id], 1);
    return id;
}

void nic_item_free(struct nic_view *view, uint32_t id)
{
    view->items[id].next = view->node->free_item;
    view->node->free_item = id;
    count_kept(view->node, &view->items[id], -1);
}

void nic_view_remind(struct nic_view *view, uint32_t port, uint32_t cell)
{
    struct bcs_port *owner = nic_view_port(view, port - view->first_port);
    uint32_t n_cells = view->engine->layout.shape.n_cells;
    uint32_t *orders = (uint32_t *)(nic_view_cell(view, port, 0) + n_cells);
    uint32_t n = atomic_load_explicit(&owner->n_orders, memory_order_relaxed);

    /* release: who reads this has read a count of n at least, and makes up for the entry that
     * is overwritten; see take_orders */
    __atomic_store_n(&orders[n % n_cells], cell, __ATOMIC_RELEASE);
    /* release: pairs with the acquire in take_orders */
    atomic_store_explicit(&owner->n_orders, n + 1, memory_order_release);
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
    bcs_notice(BCS_NOTICE_MESSAGES_KEPT,
               "node %u keeps %u messages that nobody has received, as many as it may",
               view->index, nic_send_limit(view));
}

void nic_view_defer(struct nic_view *view, uint32_t port, struct bcs_cell *cell,
                    enum bcs_cell_state state)
{
    struct nic_list *deferred = &view->node->deferred;
    uint32_t n_cells = view->engine->layout.shape.n_cells;
    uint32_t local = port - view->first_port;
    /* its number among all cells of the node: below 256 * 2^20 */
    uint32_t id = local * n_cells + (uint32_t)(cell - nic_view_cell(view, port, 0));

    cell->next_deferred = NIC_ITEM_NONE;
    cell->deferred_state = state;
    if (deferred->first == NIC_ITEM_NONE) {
        deferred->first = id;
    } else {
        nic_view_cell(view, view->first_port + deferred->last / n_cells,
                      deferred->last % n_cells)
            ->next_deferred = id;
    }
    deferred->last = id;
}

void nic_view_deliver(struct nic_view *view)
{
    uint32_t n_cells = view->engine->layout.shape.n_cells;
    uint32_t id = view->node->deferred.first;

    view->node->deferred.first = NIC_ITEM_NONE;
    while (id != NIC_ITEM_NONE) {
        uint32_t port = view->first_port + id / n_cells;
        struct bcs_cell *cell = nic_view_cell(view, port, id % n_cells);

        id = cell->next_deferred; /* the cell is its owner's from the next line on */
        nic_view_complete_now(view, port, cell,
                              (enum bcs_cell_state)cell->deferred_state);
    }
}
