/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffer receiver: in the message scheduling microphase it matches sends with receives.
 * Short messages become pairs that the DMA helper delivers in this slice; long ones
 * become transfers, which get their chunks from the schedule, slice by slice. Runs
 * under the desk's engine lock. [BCS-MPI section 4.3]
 */
#include <string.h>

#include "nic_threads/machine/node_copy.h"
#include "nic_threads/node/completing.h"
#include "nic_threads/node/items.h"
#include "nic_threads/roles/roles.h"

static struct nic_match *match_of(struct nic_view *view, uint32_t port)
{
    return &view->per_port.match[nic_view_seat(view, port)];
}

static inline struct nic_posted item_posted(const struct nic_view *view, uint32_t id)
{
    const struct nic_item *item = nic_view_item(view, id);

    return (struct nic_posted){
        .gva = nic_view_item_gva(view, item, id),
        .port = item->port,
        .item = id,
    };
}

/** Whether the DMA helper can hand the data over within this slice. */
static bool is_short(const struct nic_view *view, const struct bcs_descriptor *send,
                     uint32_t sender)
{
    return (send->flags & (BCS_DATA_INLINE | BCS_LANDED)) != 0 ||
           ((send->flags & BCS_DATA_BLOCK) != 0 && nic_view_has(view, sender));
}

/** Whether the process of a port must move its end of a transfer by itself, whatever
 *  its descriptor says: all do where direct copies are not allowed at all; else one at
 *  which a copy was refused. */
static bool is_on_its_own(const struct nic_view *view, uint32_t port, uint32_t peer)
{
    const struct nic_engine *engine = view->engine;

    if (!engine->is_direct) {
        return true;
    }
    if (engine->mover != NULL) {
        return nic_port_is_closed(engine, port);
    }
    return nic_ports_are_apart(engine, port, peer);
}

/** Whether a transfer had better go through blocks, as its receiver has found: only
 *  where both processes stay in their calls, as it goes on only while both take
 *  part. */
static bool is_blockwise(const struct nic_view *view, const struct nic_item *item,
                         const struct bcs_descriptor *receive)
{
    return (receive->flags & BCS_DATA_BLOCK) != 0 && item->both_stay &&
           item->is_local && view->engine->mover == NULL;
}

/** Make a transfer of a matched long message and queue it for its first chunk. */
static void transfer_begin(struct nic_view *view, const struct nic_pair *pair)
{
    const struct bcs_descriptor *send = nic_posted_descriptor(view, &pair->send);
    const struct bcs_descriptor *receive = nic_posted_descriptor(view, &pair->receive);
    struct bcs_cell *cell = nic_view_cell(view, pair->receive.port, receive->cell);
    uint32_t id = pair->receive.item;
    struct nic_item *item;

    if (id == NIC_ITEM_NONE) {
        id = nic_item_new(view, receive, pair->receive.port);
    }
    item = nic_view_item(view, id);
    item->total = send->n_bytes < receive->n_bytes ? send->n_bytes : receive->n_bytes;
    item->granted = 0;
    item->stored = 0;
    item->loaded_block = 0;
    item->is_loading = 0;
    item->is_storing = 0;
    item->is_queued = 0;
    item->peer = pair->send.port;
    item->peer_cell = send->cell;
    item->peer_address = send->address;
    item->is_block = (send->flags & BCS_DATA_BLOCK) != 0;
    item->is_local = nic_view_has(view, pair->send.port);
    item->is_shared = (send->flags & BCS_WAITING) != 0;
    item->both_stay = (send->flags & receive->flags & BCS_STAYING) != 0;
    item->is_open = 0;
    item->is_loaded_by_sender = (send->flags & BCS_LAID_OUT) != 0 ||
                                is_on_its_own(view, pair->send.port, item->port);
    item->is_stored_by_receiver = (receive->flags & BCS_LAID_OUT) != 0 ||
                                  is_on_its_own(view, item->port, pair->send.port);
    if (is_blockwise(view, item, receive)) {
        item->is_loaded_by_sender = 1;
    }
    item->chunk_limit = item->is_local ? UINT64_MAX : BCS_CHUNK_BLOCK_BYTES;
    cell->source = send->source;
    cell->tag = send->tag;
    cell->n_bytes = send->n_bytes;
    cell->stamp = send->stamp;
    if (item->is_local) { /* else it goes with what the sender is granted */
        nic_view_cell(view, item->peer, item->peer_cell)->stamp = receive->stamp;
    }
    nic_schedule_add(&view->desk->schedule, &view->items, id);
    if (pair->send.item != NIC_ITEM_NONE) {
        nic_item_free(view, pair->send.item);
    }
}

static void pair_up(struct nic_view *view, const struct nic_posted *send,
                    const struct nic_posted *receive)
{
    struct nic_batch *batch = &view->desk->batch;
    struct nic_pair pair = {*send, *receive};

    if (is_short(view, nic_posted_descriptor(view, send), send->port)) {
        batch->pairs[batch->n_pairs++] = pair;
    } else {
        transfer_begin(view, &pair);
    }
}

static void match_receive(struct nic_view *view, const struct nic_posted *posted)
{
    const struct bcs_descriptor *receive = nic_posted_descriptor(view, posted);
    struct nic_match *match = match_of(view, posted->port);
    struct nic_posted send;
    uint32_t id;

    if ((receive->flags & BCS_TAKE) != 0) { /* of a message that a probe has taken */
        send = item_posted(view, (uint32_t)receive->address);
        nic_match_yield(match, &view->items, send.item);
        struct nic_posted kept =
            item_posted(view, nic_item_new(view, receive, posted->port));
        nic_view_item(view, kept.item)->descriptor.address = receive->chunk.block;
        pair_up(view, &send, &kept);
        return;
    }
    id = nic_match_find_send(match, &view->items, receive);
    if (id == NIC_ITEM_NONE) {
        id = nic_item_new(view, receive, posted->port);
        nic_match_add_receive(match, &view->items, id);
        return;
    }
    nic_match_remove_send(match, &view->items, id);
    send = item_posted(view, id);
    pair_up(view, &send, posted);
}

/** Keep a send that a probe takes, and that stands in no queue. @return its item */
static uint32_t keep_taken(struct nic_view *view, const struct bcs_descriptor *send,
                           uint32_t port)
{
    uint32_t id = nic_item_new(view, send, port);

    nic_match_take(match_of(view, send->port), &view->items, id);
    return id;
}

/** Tell a probe what it has found; item is the message's if the probe takes it. */
static void probe_answer(struct nic_view *view, const struct nic_posted *posted,
                         const struct bcs_descriptor *send, uint32_t item)
{
    const struct bcs_descriptor *probe = nic_posted_descriptor(view, posted);
    struct bcs_cell *cell = nic_view_cell(view, posted->port, probe->cell);

    cell->source = send->source;
    cell->tag = send->tag;
    cell->n_bytes = send->n_bytes;
    cell->address = item;
    cell->stamp = send->stamp;
    nic_view_complete(view, posted->port, probe->cell, cell, BCS_CELL_DONE);
}

/** Answer a waiting probe, which is in no queue any more; item is the message's. */
static void answer_waiting(struct nic_view *view, uint32_t probe_id,
                           const struct bcs_descriptor *send, uint32_t item)
{
    const struct nic_posted probe = item_posted(view, probe_id);

    probe_answer(view, &probe, send, item);
    nic_item_free(view, probe_id);
}

/** Let the first receive, or probe that takes, have a new send, or keep it. Probes that
 *  only look are put in a list that `found` begins. @return where the list ends */
static uint32_t *place_send(struct nic_view *view, const struct nic_posted *posted,
                            uint32_t *found)
{
    const struct bcs_descriptor *send = nic_posted_descriptor(view, posted);
    struct nic_match *match = match_of(view, send->port);
    struct nic_item *item;

    for (;;) {
        uint32_t id = nic_match_find_receive(match, &view->items, send);
        if (id == NIC_ITEM_NONE) {
            nic_match_add_send(match, &view->items,
                               nic_item_new(view, send, posted->port));
            return found;
        }
        nic_match_remove_receive(match, &view->items, id);
        item = nic_view_item(view, id);
        if (item->descriptor.kind != BCS_PROBE) {
            struct nic_posted receive = item_posted(view, id);
            pair_up(view, posted, &receive);
            return found;
        }
        if ((item->descriptor.flags & BCS_TAKE) != 0) {
            answer_waiting(view, id, send, keep_taken(view, send, posted->port));
            return found;
        }
        *found = id;
        found = &item->next;
    }
}

/** A probe is answered once its message has found its place: whoever is told of it
 *  looks for it in the queue, without the lock. */
static void match_send(struct nic_view *view, const struct nic_posted *posted)
{
    const struct bcs_descriptor *send = nic_posted_descriptor(view, posted);
    uint32_t first, id;

    *place_send(view, posted, &first) = NIC_ITEM_NONE;
    while (first != NIC_ITEM_NONE) {
        id = first;
        first = nic_view_item(view, id)->next;
        answer_waiting(view, id, send, NIC_ITEM_NONE);
    }
}

static void answer_probe(struct nic_view *view, const struct nic_posted *posted)
{
    const struct bcs_descriptor *probe = nic_posted_descriptor(view, posted);
    struct nic_match *match = match_of(view, posted->port);
    uint32_t id = nic_match_find_send(match, &view->items, probe);

    if (id != NIC_ITEM_NONE) {
        if ((probe->flags & BCS_TAKE) != 0) {
            nic_match_remove_send(match, &view->items, id);
            nic_match_take(match, &view->items, id);
        }
        probe_answer(view, posted, &nic_view_item(view, id)->descriptor, id);
    } else {
        id = nic_item_new(view, probe, posted->port);
        nic_match_add_receive(match, &view->items, id);
    }
}

/** Take a message out of matching for its receiver, who has found it in the queue. */
static void claim(struct nic_view *view, const struct nic_posted *posted)
{
    struct nic_match *match = match_of(view, posted->port);
    uint32_t id = (uint32_t)nic_posted_descriptor(view, posted)->address;

    nic_match_remove_send(match, &view->items, id);
    nic_match_take(match, &view->items, id);
}

/** Take back a receive posted before, unless it has been matched: then it completes as
 *  it would have. */
static void cancel(struct nic_view *view, const struct nic_posted *posted)
{
    const struct bcs_descriptor *wish = nic_posted_descriptor(view, posted);
    struct nic_match *match = match_of(view, posted->port);
    uint32_t id = nic_match_find_cell(match, &view->items, wish->cell);

    if (id != NIC_ITEM_NONE) {
        nic_match_remove_receive(match, &view->items, id);
        nic_item_free(view, id);
        nic_view_complete(view, posted->port, wish->cell,
                          nic_view_cell(view, posted->port, wish->cell),
                          BCS_CELL_CANCELLED);
    }
}

/**
 * Carry out what a receiver has posted. Cancellations in their places among the
 * receives: a cell that has been completed names a later receive. Before the sends:
 * what is sent after a cancellation must not meet the receive. Claims as well: a later
 * receive must not get the message.
 */
static void take_receive(struct nic_view *view, const struct nic_posted *posted)
{
    switch (nic_posted_descriptor(view, posted)->kind) {
    case BCS_CANCEL:
        cancel(view, posted);
        break;
    case BCS_CLAIM:
        claim(view, posted);
        break;
    default:
        match_receive(view, posted);
        break;
    }
}

/**
 * A chunk of a transfer goes in this slice. An engine that copies needs not wait for
 * it: it empties a stage block as soon as it is full, so the slice takes as many as
 * there are.
 */
static void go_on(struct nic_view *view, uint32_t id)
{
    struct nic_item *item = nic_view_item(view, id);

    /* from now on, so that no control descriptor of this slice asks for the next chunk
     * as well */
    item->is_loading = 1;
    if (nic_view_copies(view, nic_item_needs_ends(item)) && !item->is_local &&
        item->granted < item->total) {
        nic_schedule_add(&view->desk->schedule, &view->items, id);
    }
}

void nic_buffer_receiver_step(struct nic_view *view)
{
    struct nic_desk *desk = view->desk;
    struct nic_batch *batch = &desk->batch;

    for (uint32_t i = 0; i < batch->n_receives; i++) {
        take_receive(view, &batch->receives[i]);
    }
    for (uint32_t i = 0; i < batch->n_sends; i++) {
        if (nic_posted_descriptor(view, &batch->sends[i])->kind == BCS_SEND) {
            match_send(view, &batch->sends[i]); /* it was not taken back */
        }
    }
    for (uint32_t i = 0; i < batch->n_probes; i++) {
        answer_probe(view, &batch->probes[i]);
    }
    batch->is_matched = true;
    while (batch->n_shares < nic_view_limits(view)->chunks &&
           nic_schedule_next(&desk->schedule, &view->items,
                             &batch->shares[batch->n_shares])) {
        go_on(view, batch->shares[batch->n_shares++].item);
    }
}
