/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DMA helper: in the point-to-point microphase it moves what the buffer receiver has
 * matched and scheduled. Runs under the desk's engine lock. [BCS-MPI section 4.3]
 *
 * A short message lies in NIC memory already; the receiver's cell gets it, or says in
 * which block it is. The chunks of a long message it copies itself where the engine has
 * a mover, that is, a thread of its own that may reach all processes' memory, and both
 * buffers are contiguous: within a node from buffer to buffer; between nodes from the
 * sender's buffer into a stage block at the receiver's node, and there, in the next
 * round, into the receiver's buffer.
 *
 * Otherwise it never touches user memory. It opens the gate for a chunk, and the
 * endpoints' own processes copy (libbcs/api/message/transfer.c):
 *
 * - within a node: cells of both endpoints refer to each other; `granted` in the
 *   receiver's cell says how far they may copy. When they have copied that much, one of
 *   them posts CHUNK_MOVED, and the transfer queues for its next chunk. Where one
 *   cannot reach the other's memory, or a buffer has gaps, the transfer is streamed,
 *   and takes both.
 * - between nodes, chunks go through blocks: see chunk.c.
 *
 * Where a copy is refused, because a process has lost the right to it (node_copy.h),
 * the chunk begins anew as that of a streamed transfer.
 *
 * What needs a certain process is an order to it, which it finds whatever it waits for.
 */
#include <string.h>

#include "nic_threads/machine/mover.h"
#include "nic_threads/machine/waking.h"
#include "nic_threads/machine/wire.h"
#include "nic_threads/node/completing.h"
#include "nic_threads/node/items.h"
#include "nic_threads/node/open_transfers.h"
#include "nic_threads/roles/chunk.h"
#include "nic_threads/roles/hand_over.h"
#include "nic_threads/roles/roles.h"

/** Hand a short message to its receiver. */
static void deliver(struct nic_view *view, const struct nic_pair *pair)
{
    const struct bcs_descriptor *send = nic_posted_descriptor(view, &pair->send);
    const struct bcs_descriptor *receive = nic_posted_descriptor(view, &pair->receive);

    nic_hand_over(view, send, pair->receive.port, receive->cell);
    if ((send->flags & BCS_SYNCHRONOUS) != 0) {
        nic_chunk_tell_matched(view, pair->send.port, send->cell, receive->stamp);
    }
    if (pair->send.item != NIC_ITEM_NONE) {
        nic_item_free(view, pair->send.item);
    }
    if (pair->receive.item != NIC_ITEM_NONE) {
        nic_item_free(view, pair->receive.item);
    }
}

/** Let the background thread know of a transfer, whose endpoints may both be busy. */
static void note_opened(struct nic_view *view, const struct nic_item *item)
{
    if (view->engine->is_timed) {
        return; /* there is none */
    }
    nic_open_transfers_add(view, item->port, item->descriptor.cell);
    if (!item->is_shared) { /* else the sender is waiting and copies */
        nic_engine_watch(view->engine);
    }
}

/** Nothing of a chunk has been moved. Nobody else is in the transfer. */
static void begin_chunk(struct bcs_transfer *transfer, uint64_t offset)
{
    atomic_store_explicit(&transfer->chunk_begin, offset, memory_order_relaxed);
    atomic_store_explicit(&transfer->claimed, offset, memory_order_relaxed);
    atomic_store_explicit(&transfer->moved, offset, memory_order_relaxed);
    atomic_store_explicit(&transfer->is_refused, 0, memory_order_relaxed);
}

/** Let both endpoints take part in a transfer that goes through blocks. */
static void open_stream(struct nic_view *view, uint32_t port, uint32_t cell)
{
    struct bcs_cell *target = nic_view_cell(view, port, cell);
    uint32_t peer_port = target->peer_port, peer_cell = target->peer_cell;
    struct bcs_cell *source = nic_view_cell(view, peer_port, peer_cell);
    uint64_t stamp = source->stamp;

    memset(&source->stream, 0, sizeof(source->stream));
    source->stamp = stamp;
    nic_view_order(view, port, cell, BCS_CELL_TRANSFER);
    nic_view_order(view, peer_port, peer_cell, BCS_CELL_SOURCE);
}

/**
 * A direct copy was refused. First whoever has found that tells us, and the receiver is
 * to put everybody out of the transfer; when it has, it tells us, and the chunk begins
 * anew, through blocks.
 */
static void copy_refused(struct nic_view *view, const struct bcs_descriptor *control,
                         uint32_t from)
{
    struct bcs_transfer *transfer =
        &nic_view_cell(view, control->port, control->cell)->transfer;

    if (from != control->port) {
        nic_view_remind(view, control->port, control->cell);
        return;
    }
    begin_chunk(transfer,
                atomic_load_explicit(&transfer->chunk_begin, memory_order_relaxed));
    transfer->is_streamed = 1;
    transfer->began = 0; /* its time tells nothing any more */
    transfer->n_stored = 0;
    open_stream(view, control->port, control->cell);
}

/** Let the endpoints begin, with a chunk that need not be the first. */
static void open_local(struct nic_view *view, const struct nic_share *share)
{
    struct nic_item *item = nic_view_item(view, share->item);
    struct bcs_cell *target = nic_view_cell(view, item->port, item->descriptor.cell);
    struct bcs_cell *source = nic_view_cell(view, item->peer, item->peer_cell);
    struct bcs_transfer *transfer = &target->transfer;

    item->is_open = 1;
    atomic_store_explicit(&transfer->granted, share->offset + share->n_bytes,
                          memory_order_relaxed);
    begin_chunk(transfer, share->offset);
    atomic_store_explicit(&transfer->sender_left, 0, memory_order_relaxed);
    transfer->item = share->item;
    transfer->is_shared = item->is_shared;
    transfer->began = item->both_stay ? bcs_transfer_now() : 0;
    transfer->is_streamed = nic_item_needs_ends(item);
    transfer->n_stored = 0;
    transfer->n_wanted = item->total;
    transfer->target = item->descriptor.address;
    target->peer_port = item->peer;
    target->peer_cell = item->peer_cell;
    target->address = item->peer_address;
    target->peer_generation =
        atomic_load_explicit(&source->state, memory_order_relaxed) >>
        BCS_CELL_STATE_BITS;
    source->peer_port = item->port;
    source->peer_cell = item->descriptor.cell;
    source->address = item->peer_address;
    /* The receiver's cell is complete before the sender may follow its reference. */
    if (transfer->is_streamed) {
        open_stream(view, item->port, item->descriptor.cell);
    } else {
        nic_view_complete(view, item->port, item->descriptor.cell, target,
                          BCS_CELL_TRANSFER);
        nic_view_complete(view, item->peer, item->peer_cell, source, BCS_CELL_SOURCE);
        note_opened(view, item);
    }
}

/** Let the endpoints copy the next chunk. */
static void grant_local(struct nic_view *view, const struct nic_share *share)
{
    struct nic_item *item = nic_view_item(view, share->item);

    if (!item->is_open) {
        open_local(view, share);
    } else {
        struct bcs_cell *cell = nic_view_cell(view, item->port, item->descriptor.cell);

        atomic_store_explicit(&cell->transfer.chunk_begin, share->offset,
                              memory_order_relaxed);
        /* release: pairs with the acquire of the endpoints' claims */
        atomic_fetch_add_explicit(&cell->transfer.granted, share->n_bytes,
                                  memory_order_release);
        nic_view_touch(view, item->port);
        nic_view_touch(view, item->peer);
    }
    if (item->granted == item->total) {
        nic_item_free(view, share->item); /* the endpoints finish by themselves */
    }
}

/** Copy the next chunk from buffer to buffer, or else let the endpoints go on. */
static void move_local(struct nic_view *view, const struct nic_share *share)
{
    struct nic_item *item = nic_view_item(view, share->item);
    const struct nic_place from = {item->peer, item->peer_address + share->offset};
    const struct nic_place to = {item->port, item->descriptor.address + share->offset};

    enum nic_outcome outcome =
        nic_mover_copy(view->engine->mover, &from, &to, share->n_bytes);

    if (outcome == NIC_REFUSED) {
        item->is_loaded_by_sender = 1;
        item->is_stored_by_receiver = 1;
        grant_local(view, share);
    }
    if (outcome != NIC_DONE) {
        return;
    }
    item->is_loading = 0;
    if (item->granted < item->total) {
        nic_schedule_add(&view->desk->schedule, &view->items, share->item);
        return;
    }
    nic_chunk_complete_receive(view, item);
    nic_view_complete(view, item->peer, item->peer_cell,
                      nic_view_cell(view, item->peer, item->peer_cell), BCS_CELL_DONE);
    nic_item_free(view, share->item);
}

static void carry_out(struct nic_view *view, const struct nic_posted *posted)
{
    const struct bcs_descriptor *descriptor = nic_posted_descriptor(view, posted);

    switch (descriptor->kind) {
    case BCS_CHUNK_MOVED:
        nic_schedule_add(&view->desk->schedule, &view->items, descriptor->chunk.item);
        break;
    case BCS_CHUNK_LOADED:
        nic_chunk_loaded(view, &descriptor->chunk, descriptor->address);
        if (descriptor->chunk.is_last) {
            nic_view_touch(view, posted->port); /* it may wait for the block */
        }
        break;
    case BCS_CHUNK_STORED:
        nic_chunk_stored(view, &descriptor->chunk);
        break;
    case NIC_WIRE_GRANT:
        nic_chunk_wanted(view, descriptor);
        break;
    case NIC_WIRE_DATA:
        nic_chunk_arrived(view, &descriptor->chunk);
        break;
    case NIC_WIRE_REFUSED:
        nic_chunk_refused(view, &descriptor->chunk);
        break;
    case BCS_COPY_REFUSED:
        copy_refused(view, descriptor, posted->port);
        break;
    case NIC_WIRE_MATCHED:
        nic_chunk_tell_matched(view, descriptor->port, descriptor->cell,
                               descriptor->stamp);
        break;
    default:
        break; /* the collective helper's */
    }
}

void nic_dma_helper_step(struct nic_view *view)
{
    struct nic_batch *batch = &view->desk->batch;

    /* First: that a synchronous send to another node has been matched must be known
     * before the answer of whoever has received it. */
    for (uint32_t i = 0; i < batch->n_controls; i++) {
        carry_out(view, &batch->controls[i]);
    }
    for (uint32_t i = 0; i < batch->n_pairs; i++) {
        deliver(view, &batch->pairs[i]);
    }
    for (uint32_t i = 0; i < batch->n_shares; i++) {
        const struct nic_share *share = &batch->shares[i];
        struct nic_item *item = nic_view_item(view, share->item);

        if (share->offset + share->n_bytes > item->granted) {
            item->chunk_left += share->n_bytes; /* a chunk before it must come first */
        } else if (!item->is_local) {
            nic_chunk_grant(view, share);
        } else if (nic_view_copies(view, nic_item_needs_ends(item))) {
            move_local(view, share);
        } else {
            grant_local(view, share);
        }
    }
}
