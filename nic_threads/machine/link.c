/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links to other nodes; see the header. What is read without the lock is written with
 * atomic (relaxed) stores.
 */
#include "nic_threads/machine/link.h"

#include "nic_threads/machine/announce.h"
#include "nic_threads/machine/engine_xfer.h"
#include "nic_threads/machine/waking.h"
#include "nic_threads/node/outbox.h"

/** A put as the view's node to the node of a port. */
static void put(struct nic_view *view, uint32_t port, struct bcs_xfer *xfer)
{
    uint32_t node = nic_layout_node(&view->engine->layout, port);
    const struct bcs_node_set dests = bcs_node_set_one(node);

    xfer->dests = &dests;
    if (xfer->remote_event_gva == 0) {
        xfer->remote_event_gva = nic_bell_gva(view, node);
    }
    nic_engine_xfer(view, xfer);
}

void nic_link_announce(struct nic_view *view, uint32_t port, uint32_t link)
{
    /* The states of all desks of ports are alike, so that a place in one is known from
     * another. */
    uint64_t desk_gva = nic_layout_desk_gva(&view->engine->layout, port);
    uint64_t other_gva = desk_gva - nic_view_gva(view, view->desk);
    const struct nic_announcing announcing = {
        .each_gva = other_gva + nic_view_gva(view, view->per_port.announced.each),
        .groups_gva = other_gva + nic_view_gva(view, view->per_port.announced.groups),
        .event_gva = desk_gva + offsetof(struct nic_desk, announcements),
        .number = link,
    };

    nic_announce(view, nic_layout_node(&view->engine->layout, port), &announcing);
}

void nic_link_put(struct nic_view *view, uint32_t port, uint32_t link,
                  uint32_t position, struct bcs_descriptor *entry)
{
    const struct nic_layout *layout = &view->engine->layout;
    uint64_t end_gva = nic_layout_link_gva(layout, port, link) +
                       offsetof(struct bcs_ring, entries) +
                       (uint64_t)((position & view->link_mask) + 1) * sizeof(*entry);
    size_t n_bytes = bcs_ring_set_flag(entry, position);
    struct bcs_xfer xfer = {
        .src = entry, .n_bytes = n_bytes, .dest_gva = end_gva - n_bytes};

    put(view, port, &xfer);
}

void nic_link_give_back(struct nic_view *view, uint32_t port, bool is_desk,
                        uint64_t credit)
{
    const struct nic_layout *layout = &view->engine->layout;
    struct bcs_xfer xfer = {
        .src = &credit,
        .n_bytes = sizeof(credit),
        .dest_gva = nic_layout_credit_gva(
            layout, port,
            nic_layout_link_of(layout, nic_view_served(view, 0), is_desk)),
    };

    put(view, port, &xfer);
    if (is_desk) {
        nic_view_visit(view, port); /* its outbox may wait */
    }
}

/** The number of the link from the view's desk to that of any port of another node. */
static uint32_t own_link(const struct nic_view *view)
{
    return nic_layout_link_of(&view->engine->layout, nic_view_served(view, 0), true);
}

static bool has_room(const struct nic_view *view, uint32_t port)
{
    const struct nic_layout *layout = &view->engine->layout;
    const bcs_credit *credit = nic_view_at(
        view, nic_layout_credit_gva(layout, nic_view_served(view, 0),
                                    nic_layout_link_of(layout, port, true)));

    return __atomic_load_n(&nic_view_partner(view, port)->link.position,
                           __ATOMIC_RELAXED) -
               bcs_credit_read(credit, NULL) <=
           view->link_mask;
}

static void send_now(struct nic_view *view, uint32_t port,
                     const struct bcs_descriptor *descriptor)
{
    struct nic_link_end *end = &nic_view_partner(view, port)->link;
    struct bcs_descriptor entry = *descriptor;

    if (!end->is_announced) {
        nic_link_announce(view, port, own_link(view));
        end->is_announced = 1;
    }
    nic_link_put(view, port, own_link(view), end->position, &entry);
    nic_view_visit(view, port);
    __atomic_store_n(&end->position, end->position + 1, __ATOMIC_RELAXED);
}

void nic_link_send(struct nic_view *view, uint32_t port,
                   const struct bcs_descriptor *descriptor)
{
    struct nic_outbox *outbox = &nic_view_partner(view, port)->link.outbox;

    if (nic_outbox_is_empty(outbox) && has_room(view, port)) {
        send_now(view, port, descriptor);
        return;
    }
    nic_outbox_add(view, outbox, &view->desk->n_outbox, descriptor, port);
    nic_marks_set(&view->per_port.waiting, port);
}

/** Send what waits for one port, as far as there is room. @return whether any went */
static bool flush_to(struct nic_view *view, uint32_t port)
{
    struct nic_outbox *outbox = &nic_view_partner(view, port)->link.outbox;
    bool has_sent = false;

    while (!nic_outbox_is_empty(outbox) && has_room(view, port)) {
        send_now(view, port,
                 &nic_view_item(view, nic_outbox_first(outbox))->descriptor);
        nic_outbox_drop(view, outbox, &view->desk->n_outbox);
        has_sent = true;
    }
    if (nic_outbox_is_empty(outbox)) {
        nic_marks_clear(&view->per_port.waiting, port);
    }
    return has_sent;
}

bool nic_link_flush_outboxes(struct nic_view *view)
{
    const struct nic_marks *waiting = &view->per_port.waiting;
    uint32_t end = view->engine->layout.n_off_node;
    bool has_sent = false;

    for (uint32_t port = nic_marks_next(waiting, 0, end); port < end;
         port = nic_marks_next(waiting, port + 1, end)) {
        has_sent |= flush_to(view, port);
    }
    return has_sent;
}

bool nic_link_can_go(const struct nic_view *view)
{
    const struct nic_marks *waiting = &view->per_port.waiting;
    uint32_t end = view->engine->layout.n_off_node;

    for (uint32_t port = nic_marks_next(waiting, 0, end); port < end;
         port = nic_marks_next(waiting, port + 1, end)) {
        if (!nic_outbox_is_empty(&nic_view_partner(view, port)->link.outbox) &&
            has_room(view, port)) {
            return true;
        }
    }
    return false;
}
