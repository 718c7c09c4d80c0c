/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks for what has not found a partner; see unmatched.h.
 */
#include "nic_threads/roles/unmatched.h"

#include "nic_threads/machine/wire.h"
#include "nic_threads/roles/collection.h"

static bool has_bit(const uint64_t *bits, uint32_t number)
{
    return (bits[number / 64] >> number % 64 & 1) != 0;
}

/** Whether an entry of a ring has no effect before a message comes: a receive of a port
 *  that none waits for. */
static bool is_idle(const struct nic_view *view, uint32_t seat,
                    const struct bcs_descriptor *entry)
{
    return entry->kind == BCS_RECEIVE && (entry->flags & BCS_TAKE) == 0 &&
           nic_match_n_sends(&view->per_port.match[seat]) == 0;
}

/** Whether a ring holds nothing that has an effect, be it held back. @param cell_out if
 *  it is not NULL: whether a receive with that cell is among them */
static bool is_ring_idle(const struct nic_view *view, uint32_t seat, uint32_t cell,
                         bool *has_cell_out)
{
    const struct bcs_ring *ring = nic_view_ring(view, seat);
    uint32_t position = bcs_ring_head(ring);
    const struct bcs_descriptor *entry;

    while ((entry = bcs_ring_entry(ring, view->ring_mask, position)) != NULL) {
        if (!is_idle(view, seat, entry)) {
            return false;
        }
        if (has_cell_out != NULL && entry->cell == cell) {
            *has_cell_out = true;
        }
        position++;
    }
    return true;
}

static bool are_links_empty(const struct nic_view *view, const uint64_t *writers)
{
    uint32_t end = view->n_links;

    for (uint32_t i = nic_collection_next_writer(view, 0, end); i < end;
         i = nic_collection_next_writer(view, i + 1, end)) {
        const struct bcs_ring *ring = nic_view_link(view, i);

        if (has_bit(writers, nic_view_writer(view, i)) &&
            nic_link_has(view, i, ring, bcs_ring_head(ring))) {
            return false;
        }
    }
    return !nic_collection_has_announcements(view);
}

bool nic_has_read_all(const struct nic_view *view, const uint64_t *writers)
{
    const struct nic_batch *batch = &view->desk->batch;

    if (batch->n_collected > 0 || batch->n_sends + batch->n_controls > 0) {
        return false;
    }
    for (uint32_t i = 0; i < view->n_served; i++) {
        if (has_bit(writers, nic_view_served(view, i)) &&
            !is_ring_idle(view, i, BCS_CELL_NONE, NULL)) {
            return false;
        }
    }
    return are_links_empty(view, writers) &&
           (view->is_alone || nic_wire_is_empty(view));
}

static const struct nic_match *match_of(const struct nic_view *view, uint32_t port)
{
    return &view->per_port.match[nic_view_seat(view, port)];
}

bool nic_is_receive_unmatched(const struct nic_view *view, uint32_t port, uint32_t cell)
{
    bool is_in_ring = false;

    return nic_match_find_cell(match_of(view, port), &view->items, cell) !=
               NIC_ITEM_NONE ||
           (is_ring_idle(view, nic_view_seat(view, port), cell, &is_in_ring) &&
            is_in_ring);
}

/** Of the messages to a port that no receive has got the one after another one,
 *  NIC_ITEM_NONE: the first one. Those that a matched probe has taken come last;
 *  *is_taken is false at first. */
static uint32_t next_send(const struct nic_view *view, uint32_t port, uint32_t id,
                          bool *is_taken)
{
    const struct nic_match *match = match_of(view, port);

    if (*is_taken) {
        return nic_view_item(view, id)->next;
    }
    id = id == NIC_ITEM_NONE ? match->arrivals.first : nic_view_item(view, id)->later;
    *is_taken = id == NIC_ITEM_NONE;
    return *is_taken ? match->taken.first : id;
}

bool nic_is_send_unmatched(const struct nic_view *view, uint32_t port, uint32_t sender,
                           uint32_t cell)
{
    bool is_taken = false;
    uint32_t id = NIC_ITEM_NONE;

    while ((id = next_send(view, port, id, &is_taken)) != NIC_ITEM_NONE) {
        const struct nic_item *item = nic_view_item(view, id);

        if (item->port == sender && item->descriptor.cell == cell) {
            return true;
        }
    }
    return false;
}

static enum nic_unmatched_kind kind_of(const struct bcs_descriptor *send, bool is_taken)
{
    if (is_taken) {
        return NIC_UNMATCHED_TAKEN;
    }
    return send->context_id % 2 != 0 ? NIC_UNMATCHED_PART : NIC_UNMATCHED_OWN;
}

uint32_t nic_unmatched_sends(const struct nic_view *view, uint32_t port,
                             unsigned int kinds, struct nic_unreceived *list_out,
                             uint32_t n_most)
{
    const struct nic_engine *engine = view->engine;
    bool is_taken = false;
    uint32_t id = NIC_ITEM_NONE, n = 0;

    while (n < n_most && (id = next_send(view, port, id, &is_taken)) != NIC_ITEM_NONE) {
        const struct nic_item *item = nic_view_item(view, id);
        const struct bcs_descriptor *send = &item->descriptor;

        if ((kinds & kind_of(send, is_taken)) != 0) {
            list_out[n++] = (struct nic_unreceived){
                .from = nic_engine_rank_of(engine, item->port),
                .to = nic_engine_rank_of(engine, port),
                .tag = send->tag,
                .n_bytes = send->n_bytes,
                .context_id = send->context_id,
                .is_taken = is_taken,
            };
        }
    }
    return n;
}

bool nic_has_come_to(const struct nic_view *view, uint32_t slot_number, uint64_t number,
                     uint32_t port)
{
    const struct nic_slot *slot = nic_view_slot(view, slot_number);

    if (slot->members.base == 0 || slot->sequence != number) {
        return slot->members.base != 0 && slot->sequence > number;
    }
    for (uint32_t id = slot->n_arrived > 0 ? slot->first_item : NIC_ITEM_NONE;
         id != NIC_ITEM_NONE; id = nic_view_item(view, id)->next) {
        if (nic_view_item(view, id)->port == port) {
            return true;
        }
    }
    return false;
}
