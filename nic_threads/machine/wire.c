/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rings between nodes. Called by the roles, under the engine lock of the view's
 * node, by whichever process drives that node; only nic_wire_has_work is called without
 * it, so that what it reads is written with atomic (relaxed) stores.
 */
#include "nic_threads/machine/wire.h"

#include "nic_threads/machine/engine_xfer.h"
#include "nic_threads/machine/waking.h"
#include "nic_threads/node/items.h"
#include "nic_threads/node/outbox.h"

/** Where the entry with a number is, in the ring of its sender at its receiver. */
static uint64_t entry_gva(const struct nic_view *view, uint32_t from, uint64_t number)
{
    uint64_t n_entries = nic_view_limits(view)->wire;

    return nic_region_gva(&view->engine->layout.wires,
                          from * n_entries + (number & (n_entries - 1)));
}

static bool has_room(const struct nic_view *view, uint32_t to)
{
    const struct nic_wire_end *end = &view->per_node.ends[to];
    /* acquire: pairs with the transport's put of the credit, so that the entries it
     * covers have been read */
    uint64_t credit = __atomic_load_n(&end->credit, __ATOMIC_ACQUIRE);

    return __atomic_load_n(&end->n_sent, __ATOMIC_RELAXED) - credit <
           nic_view_limits(view)->wire;
}

/** What another node keeps of this one; at the same address on all. */
static const struct nic_wire_end *own_end(const struct nic_view *view)
{
    return &view->per_node.ends[view->index];
}

static void put_entry(struct nic_view *view, uint32_t to,
                      const struct bcs_descriptor *descriptor, uint32_t port)
{
    struct nic_wire_end *end = &view->per_node.ends[to];
    struct bcs_descriptor entry = *descriptor;
    struct bcs_node_set dests = bcs_node_set_one(to);
    struct bcs_xfer xfer = {
        .src = &entry,
        .n_bytes = sizeof(entry),
        .dest_gva = entry_gva(view, view->index, end->n_sent),
        .dests = &dests,
        .remote_event_gva = nic_view_gva(view, &own_end(view)->arrived),
    };

    atomic_store_explicit(&entry.turn, port, memory_order_relaxed);
    __atomic_store_n(&end->n_sent, end->n_sent + 1, __ATOMIC_RELAXED);
    nic_engine_xfer(view, &xfer);
    if (!nic_engine_is_near(view->engine, to)) {
        nic_engine_ring(view, to);
    }
}

void nic_wire_send(struct nic_view *view, uint32_t to,
                   const struct bcs_descriptor *descriptor, uint32_t port)
{
    struct nic_node *node = view->node;
    struct nic_list *outbox = &view->per_node.ends[to].outbox;

    if (outbox->first == NIC_ITEM_NONE && has_room(view, to)) {
        put_entry(view, to, descriptor, port);
        return;
    }
    nic_outbox_add(view, outbox, &node->n_outbox, descriptor, port);
}

bool nic_wire_flush(struct nic_view *view)
{
    struct nic_node *node = view->node;
    bool has_sent = false;

    for (uint32_t to = 0; node->n_outbox > 0 && to < view->engine->n_nodes; to++) {
        struct nic_list *outbox = &view->per_node.ends[to].outbox;
        while (outbox->first != NIC_ITEM_NONE && has_room(view, to)) {
            const struct nic_item *item = nic_view_item(view, outbox->first);

            put_entry(view, to, &item->descriptor, item->port);
            nic_outbox_drop(view, outbox, &node->n_outbox);
            has_sent = true;
        }
    }
    return has_sent;
}

static uint64_t n_arrived(const struct nic_wire_end *end)
{
    /* acquire: pairs with the signal that follows the put of the entry */
    return __atomic_load_n(&end->arrived.count, __ATOMIC_ACQUIRE);
}

/** Whether an entry is for a role that works in MSM: BR takes sends, CH takes parts and
 *  stamps. */
static bool is_for_scheduling(const struct bcs_descriptor *entry)
{
    return entry->kind == BCS_SEND || entry->kind == NIC_WIRE_PART ||
           entry->kind == NIC_WIRE_STAMP;
}

/** The same for the ring from one node. */
static uint32_t collect_from(struct nic_view *view, uint32_t from, bool takes_all)
{
    struct nic_wire_end *end = &view->per_node.ends[from];
    struct nic_batch *batch = &view->desk->batch;
    uint64_t first = end->n_taken, at = first, n = n_arrived(end);
    uint32_t n_most = nic_view_limits(view)->arrivals;

    __atomic_store_n(&end->is_held, false, __ATOMIC_RELAXED);
    for (; at < n && batch->n_sends < n_most && batch->n_controls < n_most; at++) {
        uint64_t gva = entry_gva(view, from, at);
        const struct bcs_descriptor *entry = nic_view_at(view, gva);
        struct nic_posted posted = {
            .gva = gva,
            .port = atomic_load_explicit(&entry->turn, memory_order_relaxed),
            .item = NIC_ITEM_NONE,
        };

        if (entry->kind == BCS_SEND && nic_view_is_full(view)) {
            __atomic_store_n(&end->is_held, true, __ATOMIC_RELAXED);
            nic_view_hold(view);
            break;
        }
        if (!takes_all && is_for_scheduling(entry)) {
            break;
        }
        if (entry->kind == BCS_SEND) {
            batch->sends[batch->n_sends++] = posted;
        } else if (entry->kind != BCS_NOTHING) {
            batch->controls[batch->n_controls++] = posted;
        }
    }
    __atomic_store_n(&end->n_taken, at, __ATOMIC_RELAXED);
    return (uint32_t)(at - first);
}

/** Take a send back from what one node has put to another, and that has not read it. */
static bool take_back_arrived(struct nic_view *to, uint32_t from,
                              struct nic_recall *recall)
{
    struct nic_wire_end *end = &to->per_node.ends[from];
    uint64_t n = n_arrived(end);

    for (uint64_t at = end->n_taken; at < n; at++) {
        struct bcs_descriptor *entry = nic_view_at(to, entry_gva(to, from, at));

        if (nic_recall_means(
                recall, entry,
                atomic_load_explicit(&entry->turn, memory_order_relaxed))) {
            nic_recall_note(recall, entry);
            entry->kind = BCS_NOTHING;
            __atomic_store_n(&end->is_held, false, __ATOMIC_RELAXED);
            return true;
        }
    }
    return false;
}

bool nic_wire_take_back(struct nic_view *from, struct nic_view *to,
                        struct nic_recall *recall)
{
    uint32_t id = from->per_node.ends[to->index].outbox.first;

    while (id != NIC_ITEM_NONE) {
        struct nic_item *item = nic_view_item(from, id);

        if (nic_recall_means(recall, &item->descriptor, item->port)) {
            nic_recall_note(recall, &item->descriptor);
            nic_item_blot_out(from, item); /* it goes there all the same */
            return true;
        }
        id = item->next;
    }
    return take_back_arrived(to, from->index, recall);
}

uint32_t nic_wire_collect(struct nic_view *view, bool takes_all)
{
    uint32_t n_nodes = view->engine->n_nodes;
    /* another one each time: the first may fill the batch */
    uint32_t first = (uint32_t)(view->node->round % n_nodes);
    uint32_t n = 0;

    for (uint32_t i = 0; i < n_nodes; i++) {
        n += collect_from(view, (first + i) % n_nodes, takes_all);
    }
    return n;
}

void nic_wire_release(struct nic_view *view)
{
    for (uint32_t from = 0; from < view->engine->n_nodes; from++) {
        struct nic_wire_end *end = &view->per_node.ends[from];

        if (end->n_taken != end->n_released) {
            struct bcs_node_set dests = bcs_node_set_one(from);
            struct bcs_xfer xfer = {
                .src = &end->n_taken,
                .n_bytes = sizeof(end->n_taken),
                .dest_gva = nic_view_gva(view, &own_end(view)->credit),
                .dests = &dests,
                .remote_event_gva = nic_bell_gva(view, from), /* its outbox may wait */
            };
            end->n_released = end->n_taken;
            nic_engine_xfer(view, &xfer);
        }
    }
}

bool nic_wire_has_work(const struct nic_view *view)
{
    const struct nic_node *node = view->node;

    for (uint32_t other = 0; other < view->engine->n_nodes; other++) {
        const struct nic_wire_end *end = &view->per_node.ends[other];

        if (n_arrived(end) != __atomic_load_n(&end->n_taken, __ATOMIC_RELAXED) &&
            !(__atomic_load_n(&end->is_held, __ATOMIC_RELAXED) &&
              nic_view_is_full(view))) {
            return true;
        }
        if (__atomic_load_n(&node->n_outbox, __ATOMIC_RELAXED) > 0 &&
            __atomic_load_n(&end->outbox.first, __ATOMIC_RELAXED) != NIC_ITEM_NONE &&
            has_room(view, other)) {
            return true;
        }
    }
    return false;
}
