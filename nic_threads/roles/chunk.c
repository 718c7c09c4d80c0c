/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chunks of long messages between nodes, a part of the DMA helper: under the engine
 * lock of the node that is named with each function.
 *
 * The receiver's desk asks the sender's for a chunk (grant). Where each port has a desk
 * of its own, the sender's process puts it into a stage block at the receiver's node
 * and posts DATA to the receiver's desk; else it loads it into a block of its own and
 * posts CHUNK_LOADED, and the engine puts the block. The receiver's process stores it
 * into its buffer and posts CHUNK_STORED. While it stores one chunk the sender may load
 * the next: is_loading and is_storing say so, and loaded_block holds a chunk that has
 * been loaded too early.
 *
 * Where the engine has a mover, it copies in the place of both processes, and asks for
 * many chunks at a time. When it is refused at the receiver, what has come waits in the
 * queue of the item; when it is refused at the sender, all that it was asked for goes
 * back, and the item is put back to the first of it.
 */
#include "nic_threads/roles/chunk.h"

#include "nic_threads/machine/engine_xfer.h"
#include "nic_threads/machine/link.h"
#include "nic_threads/machine/mover.h"
#include "nic_threads/machine/wire.h"
#include "nic_threads/node/completing.h"
#include "nic_threads/node/items.h"

/** Send something about a message to where the port of its other end is served, on
 *  another node. */
static void tell(struct nic_view *view, uint32_t port,
                 const struct bcs_descriptor *control)
{
    const struct nic_engine *engine = view->engine;

    if (nic_is_linked(engine)) {
        nic_link_send(view, port, control);
    } else {
        nic_wire_send(view, nic_layout_node(&engine->layout, port), control,
                      engine->port);
    }
}

void nic_chunk_tell_matched(struct nic_view *view, uint32_t port, uint32_t cell,
                            uint64_t stamp)
{
    if (nic_view_has(view, port)) {
        struct bcs_cell *sender = nic_view_cell(view, port, cell);

        sender->stamp = stamp;
        nic_view_complete(view, port, cell, sender, BCS_CELL_DONE);
    } else {
        const struct bcs_descriptor control = {
            .kind = NIC_WIRE_MATCHED, .port = port, .cell = cell, .stamp = stamp};
        tell(view, port, &control);
    }
}

void nic_chunk_complete_receive(struct nic_view *view, const struct nic_item *item)
{
    nic_view_complete(view, item->port, item->descriptor.cell,
                      nic_view_cell(view, item->port, item->descriptor.cell),
                      BCS_CELL_DONE);
}

/** The receiver's process is to store a chunk. */
static void order_store(struct nic_view *view, uint32_t id, uint64_t block,
                        uint64_t n_bytes)
{
    struct nic_item *item = nic_view_item(view, id);
    struct bcs_cell *cell = nic_view_cell(view, item->port, item->descriptor.cell);

    cell->chunk = (struct bcs_chunk){
        .offset = item->stored,
        .n_bytes = n_bytes,
        .block = block,
        .item = id,
        .port = item->port,
        .is_last = item->stored + n_bytes == item->total,
    };
    item->is_storing = 1;
    nic_view_order(view, item->port, item->descriptor.cell, BCS_CELL_STORE);
}

/** Queue a transfer for its next chunk if it can use one now. */
static void want_next(struct nic_view *view, uint32_t id)
{
    struct nic_item *item = nic_view_item(view, id);

    if (item->granted < item->total && !item->is_loading && item->loaded_block == 0) {
        nic_schedule_add(&view->desk->schedule, &view->items, id);
    }
}

static void free_stage_block(struct nic_view *view, const struct bcs_chunk *chunk)
{
    bcs_block_free(nic_view_block(view, chunk->block));
    __atomic_store_n(&view->desk->is_stalled, false, __ATOMIC_RELAXED);
}

/** At the receiver's node: copy a chunk from its block into the receiver's buffer.
 *  @return false: the receiver must store it by itself */
static bool move_from_block(struct nic_view *view, const struct bcs_chunk *chunk)
{
    struct nic_item *item = nic_view_item(view, chunk->item);
    const struct nic_place to = {item->port, item->descriptor.address + chunk->offset};

    if (chunk->n_bytes > 0) {
        struct bcs_block *block = nic_view_block(view, chunk->block);
        enum nic_outcome outcome =
            nic_mover_write(view->engine->mover, block->data, &to, chunk->n_bytes);

        if (outcome != NIC_DONE) {
            item->is_stored_by_receiver = outcome == NIC_REFUSED;
            return outcome == NIC_GONE;
        }
        free_stage_block(view, chunk);
    }
    item->stored += chunk->n_bytes;
    if (item->stored == item->total) {
        nic_chunk_complete_receive(view, item);
        nic_item_free(view, chunk->item);
    } else {
        want_next(view, chunk->item);
    }
    return true;
}

/** At the receiver's node: keep a chunk until the receiver has stored those before it.
 *  There are several if a thread has begun to copy, and was refused. */
static void queue_block(struct nic_view *view, struct nic_item *item,
                        const struct bcs_chunk *chunk)
{
    nic_view_block(view, chunk->block)->n_bytes = (uint32_t)chunk->n_bytes;
    nic_view_queue_block(view, &item->loaded_block, &item->loaded_last, chunk->block);
}

void nic_chunk_arrived(struct nic_view *view, const struct bcs_chunk *chunk)
{
    struct nic_item *item = nic_view_item(view, chunk->item);

    item->is_loading = 0;
    if (nic_view_copies(view, item->is_stored_by_receiver) &&
        move_from_block(view, chunk)) {
        return;
    }
    if (item->is_storing) {
        queue_block(view, item, chunk);
    } else {
        order_store(view, chunk->item, chunk->block, chunk->n_bytes);
        want_next(view, chunk->item);
    }
}

void nic_chunk_refused(struct nic_view *view, const struct bcs_chunk *chunk)
{
    struct nic_item *item = nic_view_item(view, chunk->item);

    free_stage_block(view, chunk);
    if (!item->is_loaded_by_sender) { /* the first one */
        item->is_loaded_by_sender = 1;
        item->granted = chunk->offset;
        item->is_loading = 0;
        want_next(view, chunk->item);
    }
}

void nic_chunk_stored(struct nic_view *view, const struct bcs_chunk *chunk)
{
    struct nic_item *item = nic_view_item(view, chunk->item);

    __atomic_store_n(&view->desk->is_stalled, false, __ATOMIC_RELAXED);
    item->is_storing = 0;
    item->stored += chunk->n_bytes;
    if (item->stored == item->total) {
        nic_item_free(view, chunk->item);
        return;
    }
    if (item->loaded_block != 0) {
        uint64_t gva = item->loaded_block;
        const struct bcs_block *block = nic_view_block(view, gva);

        item->loaded_block = block->next;
        order_store(view, chunk->item, gva, block->n_bytes);
    }
    want_next(view, chunk->item);
}

/** At the sender's node: take a chunk's data to the receiver's node. */
static void send_chunk(struct nic_view *view, const struct bcs_chunk *chunk,
                       const void *data)
{
    struct bcs_descriptor control = {.kind = NIC_WIRE_DATA};

    control.chunk = *chunk;
    if (chunk->n_bytes > 0) {
        struct bcs_node_set dests =
            bcs_node_set_one(nic_layout_node(&view->engine->layout, chunk->port));
        const struct bcs_xfer xfer = {
            .src = data,
            .n_bytes = chunk->n_bytes,
            .dest_gva = chunk->block + offsetof(struct bcs_block, data),
            .dests = &dests,
        };
        nic_engine_put_long(view, &xfer); /* its source is given back or used again */
    }
    tell(view, chunk->port, &control);
}

void nic_chunk_loaded(struct nic_view *view, const struct bcs_chunk *chunk,
                      uint64_t block)
{
    send_chunk(view, chunk, block == 0 ? NULL : nic_view_block(view, block)->data);
    if (block != 0) {
        bcs_block_free(nic_view_block(view, block));
    }
}

/** At the sender's node: take a chunk from the sender's buffer to the receiver's node,
 *  or say that nobody but the sender itself can; then this is so for all that
 *  follow. */
static void move_to_node(struct nic_view *view, const struct bcs_descriptor *grant)
{
    const struct nic_engine *engine = view->engine;
    const struct nic_place from = {grant->port, grant->address + grant->chunk.offset};
    enum nic_outcome outcome = NIC_REFUSED;
    const void *data;

    if (grant->chunk.n_bytes == 0 || !nic_port_is_closed(engine, grant->port)) {
        outcome = nic_mover_read(engine->mover, &from, grant->chunk.n_bytes, &data);
    }
    if (outcome == NIC_REFUSED) {
        struct bcs_descriptor control = {.kind = NIC_WIRE_REFUSED};

        control.chunk = grant->chunk;
        tell(view, grant->chunk.port, &control);
    }
    if (outcome != NIC_DONE) {
        return;
    }
    send_chunk(view, &grant->chunk, data);
    if (grant->chunk.is_last) {
        struct bcs_cell *sender = nic_view_cell(view, grant->port, grant->cell);

        sender->stamp = grant->stamp;
        nic_view_complete(view, grant->port, grant->cell, sender, BCS_CELL_DONE);
    }
}

void nic_chunk_wanted(struct nic_view *view, const struct bcs_descriptor *grant)
{
    if ((grant->flags & BCS_DATA_BLOCK) != 0) {
        nic_chunk_loaded(view, &grant->chunk, grant->address);
        if ((grant->flags & BCS_SYNCHRONOUS) != 0) {
            nic_chunk_tell_matched(view, grant->port, grant->cell, grant->stamp);
        }
    } else if (nic_view_copies(view, (grant->flags & BCS_LAID_OUT) != 0)) {
        move_to_node(view, grant);
    } else {
        struct bcs_cell *cell = nic_view_cell(view, grant->port, grant->cell);
        cell->chunk = grant->chunk;
        cell->stamp = grant->stamp;
        nic_view_order(view, grant->port, grant->cell, BCS_CELL_LOAD);
    }
}

/** A free stage block for data from a node, of those for that node or for the desk, or
 *  0. */
static uint64_t stage_block(struct nic_view *view, uint32_t from)
{
    uint32_t n = nic_view_limits(view)->stage_blocks;
    uint32_t part = nic_is_linked(view->engine) ? view->first_served : from;

    for (uint32_t i = 0; i < n; i++) {
        uint64_t gva =
            nic_region_gva(&view->engine->layout.stages, (uint64_t)part * n + i);
        struct bcs_block *block = nic_view_block(view, gva);
        /* acquire: pairs with bcs_block_free by the process that has stored the
         * chunk */
        if (atomic_load_explicit(&block->busy, memory_order_acquire) == 0) {
            atomic_store_explicit(&block->busy, 1, memory_order_relaxed);
            return gva;
        }
    }
    return 0;
}

void nic_chunk_grant(struct nic_view *view, const struct nic_share *share)
{
    struct nic_item *item = nic_view_item(view, share->item);
    uint32_t from = nic_layout_node(&view->engine->layout, item->peer);
    struct bcs_descriptor grant = {
        .kind = NIC_WIRE_GRANT,
        .flags = item->is_loaded_by_sender ? BCS_LAID_OUT : 0,
        .port = item->peer,
        .cell = item->peer_cell,
        .address = item->peer_address,
    };

    if (item->is_block) {
        grant.flags =
            BCS_DATA_BLOCK | (bcs_is_cell(item->peer_cell) ? BCS_SYNCHRONOUS : 0);
    }
    grant.stamp = item->descriptor.stamp;
    grant.chunk = (struct bcs_chunk){
        .offset = share->offset,
        .n_bytes = share->n_bytes,
        .item = share->item,
        .port = item->port,
        .is_last = share->offset + share->n_bytes == item->total,
    };
    if (share->n_bytes > 0) {
        grant.chunk.block = stage_block(view, from);
        if (grant.chunk.block == 0) {
            item->granted = share->offset;
            item->chunk_left += share->n_bytes;
            item->is_loading = 0;
            __atomic_store_n(&view->desk->is_stalled, true, __ATOMIC_RELAXED);
            nic_schedule_add(&view->desk->schedule, &view->items, share->item);
            return;
        }
    }
    tell(view, item->peer, &grant);
}
