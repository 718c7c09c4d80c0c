/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rings between nodes. Called by the roles, under the engine lock of the view's
 * node, by whichever process drives that node; only nic_wire_has_work is called without
 * it, so that what it reads is written with atomic (relaxed) stores.
 */
#include "nic_threads/machine/wire.h"

#include "nic_threads/machine/announce.h"
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
    const struct nic_wire_end *end = nic_view_wire_end(view, to);
    /* acquire: pairs with the transport's put of the credit, so that the entries it
     * covers have been read */
    uint64_t credit = __atomic_load_n(&end->credit, __ATOMIC_ACQUIRE);

    return __atomic_load_n(&end->n_sent, __ATOMIC_RELAXED) - credit <
           nic_view_limits(view)->wire;
}

/** Global address of a member of what another node keeps of this one; the same on
 *  all. */
#define OWN_END_GVA(view, member)                                                      \
    (nic_view_wire_end_gva(view, (view)->index) + offsetof(struct nic_wire_end, member))

/** Tell another node that it will find something in this one's wire. */
static void announce(struct nic_view *view, uint32_t to)
{
    const struct nic_announcing announcing = {
        .each_gva = nic_view_gva(view, view->per_node.announced.each),
        .groups_gva = nic_view_gva(view, view->per_node.announced.groups),
        .event_gva = NIC_NODE_GVA(view, announcements),
        .number = view->index,
    };

    nic_announce(view, to, &announcing);
}

static void put_entry(struct nic_view *view, uint32_t to,
                      const struct bcs_descriptor *descriptor, uint32_t port)
{
    struct nic_wire_end *end = nic_view_wire_end(view, to);
    struct bcs_descriptor entry = *descriptor;
    struct bcs_node_set dests = bcs_node_set_one(to);
    struct bcs_xfer xfer = {
        .src = &entry,
        .n_bytes = sizeof(entry),
        .dest_gva = entry_gva(view, view->index, end->n_sent),
        .dests = &dests,
        .remote_event_gva = OWN_END_GVA(view, arrived),
    };

    if (end->n_sent == 0) {
        announce(view, to);
    }
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
    struct nic_outbox *outbox = &nic_view_wire_end(view, to)->outbox;

    if (nic_outbox_is_empty(outbox) && has_room(view, to)) {
        put_entry(view, to, descriptor, port);
        return;
    }
    nic_outbox_add(view, outbox, &node->n_outbox, descriptor, port);
    nic_marks_set(&view->per_node.waiting, to);
}

/** Send what waits for one node, as far as there is room. @return whether any went */
static bool flush_to(struct nic_view *view, uint32_t to)
{
    struct nic_outbox *outbox = &nic_view_wire_end(view, to)->outbox;
    bool has_sent = false;

    while (!nic_outbox_is_empty(outbox) && has_room(view, to)) {
        const struct nic_item *item = nic_view_item(view, nic_outbox_first(outbox));

        put_entry(view, to, &item->descriptor, item->port);
        nic_outbox_drop(view, outbox, &view->node->n_outbox);
        has_sent = true;
    }
    if (nic_outbox_is_empty(outbox)) {
        nic_marks_clear(&view->per_node.waiting, to);
    }
    return has_sent;
}

bool nic_wire_flush(struct nic_view *view)
{
    const struct nic_marks *waiting = &view->per_node.waiting;
    uint32_t end = view->engine->n_nodes;
    bool has_sent = false;

    if (view->node->n_outbox == 0) {
        return false;
    }
    for (uint32_t to = nic_marks_next(waiting, 0, end); to < end;
         to = nic_marks_next(waiting, to + 1, end)) {
        has_sent |= flush_to(view, to);
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
    struct nic_wire_end *end = nic_view_wire_end(view, from);
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
    if (at != first) {
        __atomic_store_n(&end->n_taken, at, __ATOMIC_RELAXED);
        nic_marks_set(&view->per_node.taken, from);
    }
    return (uint32_t)(at - first);
}

bool nic_wire_take_back_arrived(struct nic_view *view, uint32_t from,
                                struct nic_recall *recall)
{
    struct nic_wire_end *end = nic_view_wire_end(view, from);
    uint64_t n = n_arrived(end);

    for (uint64_t at = end->n_taken; at < n; at++) {
        struct bcs_descriptor *entry = nic_view_at(view, entry_gva(view, from, at));

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

bool nic_wire_take_back_waiting(struct nic_view *view, uint32_t to,
                                struct nic_recall *recall)
{
    uint32_t id = nic_outbox_first(&nic_view_wire_end(view, to)->outbox);

    while (id != NIC_ITEM_NONE) {
        struct nic_item *item = nic_view_item(view, id);

        if (nic_recall_means(recall, &item->descriptor, item->port)) {
            nic_recall_note(recall, &item->descriptor);
            nic_item_blot_out(view, item); /* it goes there all the same */
            return true;
        }
        id = item->next;
    }
    return false;
}

/** Whether other nodes have begun to use wires. Also read without the lock. */
static bool has_announcements(const struct nic_view *view)
{
    /* acquire: pairs with the signal that follows the put of the announcement */
    return __atomic_load_n(&view->node->announcements.count, __ATOMIC_ACQUIRE) !=
           __atomic_load_n(&view->node->n_announcements_seen, __ATOMIC_RELAXED);
}

static void take_announcements(struct nic_view *view)
{
    struct nic_node *node = view->node;
    uint64_t n = __atomic_load_n(&node->announcements.count, __ATOMIC_ACQUIRE);

    nic_announced_take(&view->per_node.announced, view->engine->n_nodes,
                       &view->per_node.senders);
    __atomic_store_n(&node->n_announcements_seen, n, __ATOMIC_RELAXED);
}

/** Collect from the wires of some nodes. */
static uint32_t collect_from_all(struct nic_view *view, uint32_t begin, uint32_t end,
                                 bool takes_all)
{
    const struct nic_marks *senders = &view->per_node.senders;
    uint32_t n = 0;

    for (uint32_t from = nic_marks_next(senders, begin, end); from < end;
         from = nic_marks_next(senders, from + 1, end)) {
        n += collect_from(view, from, takes_all);
    }
    return n;
}

uint32_t nic_wire_collect(struct nic_view *view, bool takes_all)
{
    uint32_t n_nodes = view->engine->n_nodes;
    /* another one each time: the first may fill the batch */
    uint32_t first = (uint32_t)(view->node->round % n_nodes);
    uint32_t n;

    if (has_announcements(view)) {
        take_announcements(view);
    }
    n = collect_from_all(view, first, n_nodes, takes_all);
    return n + collect_from_all(view, 0, first, takes_all);
}

/** Give back what was read from the wire of a node. */
static void release_from(struct nic_view *view, uint32_t from)
{
    struct nic_wire_end *end = nic_view_wire_end(view, from);
    struct bcs_node_set dests = bcs_node_set_one(from);
    struct bcs_xfer xfer = {
        .src = &end->n_taken,
        .n_bytes = sizeof(end->n_taken),
        .dest_gva = OWN_END_GVA(view, credit),
        .dests = &dests,
        .remote_event_gva = nic_bell_gva(view, from), /* its outbox may wait */
    };

    nic_engine_xfer(view, &xfer);
}

void nic_wire_release(struct nic_view *view)
{
    const struct nic_marks *taken = &view->per_node.taken;
    uint32_t end = view->engine->n_nodes;

    for (uint32_t from = nic_marks_next(taken, 0, end); from < end;
         from = nic_marks_next(taken, from + 1, end)) {
        nic_marks_clear(taken, from);
        release_from(view, from);
    }
}

/** Whether an entry of a node's wire can be read. */
static bool can_read(const struct nic_view *view, uint32_t from)
{
    const struct nic_wire_end *end = nic_view_wire_end(view, from);

    return n_arrived(end) != __atomic_load_n(&end->n_taken, __ATOMIC_RELAXED) &&
           !(__atomic_load_n(&end->is_held, __ATOMIC_RELAXED) &&
             nic_view_is_full(view));
}

/** Whether something that waits can go. */
static bool can_send(const struct nic_view *view)
{
    const struct nic_marks *waiting = &view->per_node.waiting;
    uint32_t end = view->engine->n_nodes;

    for (uint32_t to = nic_marks_next(waiting, 0, end); to < end;
         to = nic_marks_next(waiting, to + 1, end)) {
        if (!nic_outbox_is_empty(&nic_view_wire_end(view, to)->outbox) &&
            has_room(view, to)) {
            return true;
        }
    }
    return false;
}

bool nic_wire_has_work(const struct nic_view *view)
{
    const struct nic_marks *senders = &view->per_node.senders;
    uint32_t end = view->engine->n_nodes;

    for (uint32_t from = nic_marks_next(senders, 0, end); from < end;
         from = nic_marks_next(senders, from + 1, end)) {
        if (can_read(view, from)) {
            return true;
        }
    }
    return has_announcements(view) ||
           (__atomic_load_n(&view->node->n_outbox, __ATOMIC_RELAXED) > 0 &&
            can_send(view));
}

bool nic_wire_is_empty(const struct nic_view *view)
{
    const struct nic_marks *senders = &view->per_node.senders;
    uint32_t end = view->engine->n_nodes;

    for (uint32_t from = nic_marks_next(senders, 0, end); from < end;
         from = nic_marks_next(senders, from + 1, end)) {
        const struct nic_wire_end *wire = nic_view_wire_end(view, from);

        if (n_arrived(wire) != wire->n_taken) {
            return false;
        }
    }
    return !has_announcements(view) && view->node->n_outbox == 0;
}
