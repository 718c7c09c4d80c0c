/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Taking a send back; see the header.
 *
 * Between two holders of the lock a send lies in one place: in a ring, unread; in the
 * batch, while a round of several nodes is under way; on a wire; in the queue of its
 * receiver. Whoever has it has left none of them: a pair of the batch, a transfer, or
 * what a matched probe has taken (match->taken).
 *
 * What is not read yet stays in its place as a descriptor that asks for nothing: the
 * ring's reader goes over it, also while the desk takes no more sends. From the queue
 * it is unlinked. The receiver's process may look there without the engine's lock, but
 * not while the caller holds the queue; and it may have found the message and posted
 * that it takes it, which is seen then.
 */
#include "nic_threads/roles/take_back.h"

#include "nic_threads/machine/wire.h"
#include "nic_threads/node/items.h"

/** An entry that nobody has read is the send: make it ask for nothing. What has landed
 *  at the receiver's node is let go of in its turn, by who reads the entry. */
static void blot_out(const struct bcs_descriptor *entry, struct nic_recall *recall)
{
    nic_recall_note(recall, entry);
    ((struct bcs_descriptor *)(uintptr_t)entry)->kind = BCS_NOTHING;
}

/** The entry at a position of a ring, or NULL; of one from another node it stays as it
 *  is then. */
static const struct bcs_descriptor *entry_at(struct bcs_ring *ring, uint32_t mask,
                                             uint32_t position, bool is_off_node)
{
    const struct bcs_descriptor *entry;

    if (!is_off_node) {
        return bcs_ring_entry(ring, mask, position);
    }
    entry = bcs_ring_put_entry(ring, mask, position);
    if (entry != NULL) {
        uint64_t *flag = bcs_ring_flag(entry);

        /* It was made whole just now. relaxed: who looks at the flag without the lock,
         * by bcs_ring_has_put, leaves that bit out */
        __atomic_store_n(flag, *flag & ~BCS_PUT_SHORT, __ATOMIC_RELAXED);
    }
    return entry;
}

static bool from_ring(struct bcs_ring *ring, uint32_t mask, bool is_off_node,
                      struct nic_recall *recall)
{
    const struct bcs_descriptor *entry;

    for (uint32_t position = bcs_ring_head(ring);
         (entry = entry_at(ring, mask, position, is_off_node)) != NULL; position++) {
        if (nic_recall_means(recall, entry, recall->sender)) {
            blot_out(entry, recall);
            /* it may be what is held back; relaxed: a hint */
            __atomic_store_n(&ring->is_held, false, __ATOMIC_RELAXED);
            return true;
        }
    }
    return false;
}

/** From what the sender has posted and its desk, or the receiver's, has not read. */
static bool from_post(struct nic_view *view, struct nic_recall *recall)
{
    uint32_t link = recall->sender - view->first_writer;
    uint32_t seat = nic_view_seat(view, recall->sender);

    if (seat < view->n_served) {
        return from_ring(nic_view_ring(view, seat), view->ring_mask, false, recall);
    }
    return link < view->n_post_links &&
           from_ring(nic_view_link(view, link), view->link_mask,
                     !nic_view_has(view, recall->sender), recall);
}

/** From the sends of a round that has not matched them yet. */
static bool from_batch(struct nic_view *view, struct nic_recall *recall)
{
    const struct nic_batch *batch = &view->desk->batch;

    for (uint32_t i = 0; !batch->is_matched && i < batch->n_sends; i++) {
        const struct nic_posted *posted = &batch->sends[i];
        const struct bcs_descriptor *send = nic_posted_descriptor(view, posted);

        if (nic_recall_means(recall, send, posted->port)) {
            blot_out(send, recall);
            return true;
        }
    }
    return false;
}

/** Whether the receiver has posted that it takes a message of the queue, and that is
 *  still to be carried out. */
static bool is_claimed(const struct nic_view *view, uint32_t port, uint32_t item)
{
    const struct bcs_ring *ring = nic_view_ring(view, nic_view_seat(view, port));
    const struct nic_batch *batch = &view->desk->batch;
    const struct bcs_descriptor *entry;

    for (uint32_t i = 0; !batch->is_matched && i < batch->n_receives; i++) {
        entry = nic_posted_descriptor(view, &batch->receives[i]);
        if (batch->receives[i].port == port && entry->kind == BCS_CLAIM &&
            entry->address == item) {
            return true;
        }
    }
    for (uint32_t position = bcs_ring_head(ring);
         (entry = bcs_ring_entry(ring, view->ring_mask, position)) != NULL;
         position++) {
        if (entry->kind == BCS_CLAIM && entry->address == item) {
            return true;
        }
    }
    return false;
}

/** Take a message out of its queue, unless the receiver has found it. */
static bool unlink_send(struct nic_view *view, struct nic_match *match, uint32_t id,
                        struct nic_recall *recall)
{
    const struct bcs_descriptor *send = &nic_view_item(view, id)->descriptor;

    if (is_claimed(view, recall->receiver, id)) {
        return false;
    }
    nic_match_remove_send(match, &view->items, id);
    nic_recall_note(recall, send);
    if ((send->flags & BCS_LANDED) != 0) {
        bcs_block_free(nic_view_block(view, send->address));
    }
    nic_item_free(view, id);
    return true;
}

static bool from_queue(struct nic_view *view, struct nic_recall *recall)
{
    struct nic_match *match =
        &view->per_port.match[nic_view_seat(view, recall->receiver)];

    for (uint32_t id = match->arrivals.first; id != NIC_ITEM_NONE;
         id = nic_view_item(view, id)->later) {
        const struct nic_item *item = nic_view_item(view, id);

        if (nic_recall_means(recall, &item->descriptor, item->port)) {
            return unlink_send(view, match, id, recall);
        }
    }
    return false;
}

/** From the wire that it has come by, where there is one. */
static bool from_wire(struct nic_view *view, struct nic_recall *recall)
{
    const struct nic_engine *engine = view->engine;

    return !nic_is_linked(engine) && !nic_view_has(view, recall->sender) &&
           nic_wire_take_back_arrived(
               view, nic_layout_node(&engine->layout, recall->sender), recall);
}

enum nic_withdrawn nic_take_back(struct nic_view *view, struct nic_recall *recall)
{
    struct nic_match *queue =
        &view->per_port.match[nic_view_seat(view, recall->receiver)];
    bool is_found;

    if (!nic_match_hold(queue)) {
        return NIC_WITHDRAWN_NOT_YET;
    }
    is_found = from_queue(view, recall) || from_batch(view, recall) ||
               from_post(view, recall) || from_wire(view, recall);
    nic_match_let_go(queue);
    return is_found ? NIC_WITHDRAWN : NIC_WITHDRAWN_TOO_LATE;
}

bool nic_take_back_unsent(struct nic_view *view, struct nic_recall *recall)
{
    return from_post(view, recall) ||
           nic_wire_take_back_waiting(
               view, nic_layout_node(&view->engine->layout, recall->receiver), recall);
}
