/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Items and completions. Called by the roles, under the lock of the view's desk.
 */
#include "nic_threads/node/node.h"

#include <stdlib.h>
#include <string.h>

#include "libbcs/base/align.h"
#include "libbcs/base/log.h"
#include "libbcs/base/notice.h"
#include "libbcs/ring/order_table.h"

/** Count an item in or out if it holds a send. */
static void count_kept(struct nic_desk *desk, const struct nic_item *item, int32_t n)
{
    if (item->descriptor.kind == BCS_SEND) {
        __atomic_store_n(&desk->n_sends_kept, desk->n_sends_kept + (uint32_t)n,
                         __ATOMIC_RELAXED);
    }
}

uint32_t nic_item_new(struct nic_view *view, const struct bcs_descriptor *descriptor,
                      uint32_t port)
{
    struct nic_desk *desk = view->desk;
    uint32_t id = desk->free_item;
    struct nic_item *item;

    if (id != NIC_ITEM_NONE) {
        item = nic_view_item(view, id);
        desk->free_item = item->next;
    } else if (desk->items_touched < view->engine->layout.n_items) {
        id = desk->items_touched++;
        item = nic_view_item(view, id);
    } else {
        bcs_error(
            "more than %u operations are pending on a node; raise BCS_DESCRIPTORS",
            view->engine->layout.n_items);
        abort();
    }
    memcpy(&item->descriptor, descriptor, sizeof(*descriptor));
    item->port = port;
    count_kept(desk, item, 1);
    return id;
}

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

static inline void give_back(struct nic_desk *desk, struct nic_item *item, uint32_t id)
{
    item->next = desk->free_item;
    desk->free_item = id;
    count_kept(desk, item, -1);
}

/** Apart, so that nic_item_free saves no register for a call that it makes seldom. */
static __attribute__((noinline)) void free_later(struct nic_view *view, uint32_t id)
{
    give_back(view->desk, nic_view_item(view, id), id);
}

void nic_item_free(struct nic_view *view, uint32_t id)
{
    if (__builtin_expect(id < view->items.n_first, 1)) {
        give_back(view->desk, &view->items.first[id], id);
    } else {
        free_later(view, id);
    }
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
