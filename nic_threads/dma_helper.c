/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DMA helper: in the point-to-point microphase it moves what the buffer receiver has
 * matched and scheduled. Runs under the node's engine lock. [BCS-MPI section 4.3]
 *
 * A short message lies in NIC memory already; the receiver's cell gets it, or says in which
 * block it is. The chunks of a long message it copies itself where the engine has a mover,
 * that is, a thread of its own that may reach all processes' memory, and both buffers are
 * contiguous: within a node from buffer to buffer; between nodes from the sender's buffer
 * into a stage block at the receiver's node, and there, in the next round, into the
 * receiver's buffer.
 *
 * Otherwise it never touches user memory. It opens the gate for a chunk, and the
 * endpoints' own processes copy (libbcs/api/transfer.c):
 *
 * - within a node: cells of both endpoints refer to each other; `granted` in the receiver's
 *   cell says how far they may copy. When they have copied that much, one of them posts
 *   CHUNK_MOVED, and the transfer queues for its next chunk. Where one cannot reach the
 *   other's memory, or a buffer has gaps, the transfer is streamed, and takes both.
 * - between nodes: the receiver's node asks the sender's node for a chunk (grant); the
 *   sender's process loads it into a block of its own and posts CHUNK_LOADED; the block is
 *   put into a stage block at the receiver's node; the receiver's process stores it into
 *   its buffer and posts CHUNK_STORED. While it stores one chunk the sender may load the
 *   next: is_loading and is_storing say so, and loaded_block holds a chunk that has been
 *   loaded too early.
 *
 * What needs a certain process is an order to it, which it finds whatever it waits for.
 */
#include <string.h>

#include "nic_threads/engine.h"
#include "nic_threads/mover.h"
#include "nic_threads/roles.h"
#include "nic_threads/wire.h"

enum { FIRST_LINE_PAYLOAD = 24 };

/** Tell a sender, wherever it is, that its synchronous send has been matched. */
static void tell_matched(struct nic_view *view, uint32_t port, uint32_t cell)
{
    if (nic_view_has(view, port)) {
        nic_view_complete(view, port, nic_view_cell(view, port, cell), BCS_CELL_DONE);
    } else {
        const struct bcs_descriptor note = {
            .kind = NIC_WIRE_MATCHED, .port = port, .cell = cell};
        nic_wire_send(view, nic_layout_node(&view->engine->layout, port), &note, port);
    }
}

/** Hand a short message to its receiver. */
static void deliver(struct nic_view *view, const struct nic_pair *pair)
{
    const struct bcs_descriptor *send = nic_posted_descriptor(view, &pair->send);
    const struct bcs_descriptor *receive = nic_posted_descriptor(view, &pair->receive);
    struct bcs_cell *cell = nic_view_cell(view, pair->receive.port, receive->cell);
    enum bcs_cell_state state = BCS_CELL_INLINE;

    cell->source = send->source;
    cell->tag = send->tag;
    cell->n_bytes = send->n_bytes;
    if ((send->flags & BCS_DATA_BLOCK) != 0) {
        cell->address = send->address;
        state = BCS_CELL_BLOCK;
    } else if (send->n_bytes > FIRST_LINE_PAYLOAD) {
        memcpy(cell->payload, send->payload, BCS_INLINE_BYTES);
    } else {
        memcpy(cell->payload, send->payload, FIRST_LINE_PAYLOAD);
    }
    nic_view_complete(view, pair->receive.port, cell, state);
    if ((send->flags & BCS_SYNCHRONOUS) != 0) {
        tell_matched(view, pair->send.port, send->cell);
    }
    if (pair->send.item != NIC_ITEM_NONE) {
        nic_item_free(view, pair->send.item);
    }
    if (pair->receive.item != NIC_ITEM_NONE) {
        nic_item_free(view, pair->receive.item);
    }
}

/** Complete a cell with an order, which its owner finds in its order table even while it
 *  waits for something else. */
static void give_order(struct nic_view *view, uint32_t port, uint32_t cell_id,
                       enum bcs_cell_state state)
{
    struct bcs_cell *cell = nic_view_cell(view, port, cell_id);
    struct bcs_port *owner = nic_view_port(view, port - view->first_port);
    uint32_t n_cells = view->engine->layout.shape.n_cells;
    uint32_t *orders = (uint32_t *)(nic_view_cell(view, port, 0) + n_cells);
    uint32_t n = atomic_load_explicit(&owner->n_orders, memory_order_relaxed);

    nic_view_complete_now(view, port, cell, state);
    orders[n % n_cells] = cell_id; /* a cell has at most one order, so there is room */
    /* release: pairs with the acquire in take_orders */
    atomic_store_explicit(&owner->n_orders, n + 1, memory_order_release);
}

/** Let the background thread know of a transfer, whose endpoints may both be busy. */
static void note_opened(struct nic_view *view, const struct nic_item *item,
                        const struct bcs_cell *target)
{
    struct nic_node *node = view->node;

    node->opened[node->n_opened % nic_view_limits(view)->opened] = (struct nic_opened){
        .port = item->port,
        .cell = item->descriptor.cell,
        .generation = atomic_load_explicit(&target->state, memory_order_relaxed) >>
                      BCS_CELL_STATE_BITS,
    };
    /* relaxed: a hint for those who do not hold the lock */
    __atomic_store_n(&node->n_opened, node->n_opened + 1, __ATOMIC_RELAXED);
    if (!item->is_shared) { /* else the sender is waiting and copies */
        nic_engine_watch(view->engine);
    }
}

/** Let the endpoints begin. */
static void open_local(struct nic_view *view, uint32_t id, uint64_t n_bytes)
{
    struct nic_item *item = &view->items[id];
    struct bcs_cell *target = nic_view_cell(view, item->port, item->descriptor.cell);
    struct bcs_cell *source = nic_view_cell(view, item->peer, item->peer_cell);
    struct bcs_transfer *transfer = &target->transfer;

    atomic_store_explicit(&transfer->granted, n_bytes, memory_order_relaxed);
    atomic_store_explicit(&transfer->claimed, 0, memory_order_relaxed);
    atomic_store_explicit(&transfer->moved, 0, memory_order_relaxed);
    atomic_store_explicit(&transfer->sender_left, 0, memory_order_relaxed);
    transfer->item = id;
    transfer->is_shared = item->is_shared;
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
        memset(&source->stream, 0, sizeof(source->stream));
        give_order(view, item->port, item->descriptor.cell, BCS_CELL_TRANSFER);
        give_order(view, item->peer, item->peer_cell, BCS_CELL_SOURCE);
    } else {
        nic_view_complete(view, item->port, target, BCS_CELL_TRANSFER);
        nic_view_complete(view, item->peer, source, BCS_CELL_SOURCE);
        note_opened(view, item, target);
    }
}

/** Let the endpoints copy the next chunk. */
static void grant_local(struct nic_view *view, const struct nic_plan *plan)
{
    struct nic_item *item = &view->items[plan->item];

    if (plan->offset == 0) {
        open_local(view, plan->item, plan->n_bytes);
    } else {
        struct bcs_cell *cell = nic_view_cell(view, item->port, item->descriptor.cell);
        /* release: pairs with the acquire of the endpoints' claims */
        atomic_fetch_add_explicit(&cell->transfer.granted, plan->n_bytes,
                                  memory_order_release);
        nic_view_touch(view, item->port);
        nic_view_touch(view, item->peer);
    }
    if (item->granted == item->total) {
        nic_item_free(view, plan->item); /* the endpoints finish by themselves */
    }
}

/** Complete a long message's receive. */
static void complete_receive(struct nic_view *view, const struct nic_item *item)
{
    nic_view_complete(view, item->port,
                      nic_view_cell(view, item->port, item->descriptor.cell),
                      BCS_CELL_DONE);
}

/** Copy the next chunk from buffer to buffer. */
static void move_local(struct nic_view *view, const struct nic_plan *plan)
{
    struct nic_item *item = &view->items[plan->item];
    const struct nic_place from = {item->peer, item->peer_address + plan->offset};
    const struct nic_place to = {item->port, item->descriptor.address + plan->offset};

    if (!nic_mover_copy(view->engine->mover, &from, &to, plan->n_bytes)) {
        return;
    }
    item->is_loading = 0;
    if (item->granted < item->total) {
        nic_schedule_add(&view->node->schedule, view->items, plan->item);
        return;
    }
    complete_receive(view, item);
    nic_view_complete(view, item->peer,
                      nic_view_cell(view, item->peer, item->peer_cell), BCS_CELL_DONE);
    nic_item_free(view, plan->item);
}

/** The receiver's process is to store a chunk. */
static void order_store(struct nic_view *view, uint32_t id, uint64_t block,
                        uint64_t n_bytes)
{
    struct nic_item *item = &view->items[id];
    struct bcs_cell *cell = nic_view_cell(view, item->port, item->descriptor.cell);

    cell->chunk = (struct bcs_chunk){
        .offset = item->stored,
        .n_bytes = n_bytes,
        .block = block,
        .item = id,
        .node = view->index,
        .is_last = item->stored + n_bytes == item->total,
    };
    item->is_storing = 1;
    give_order(view, item->port, item->descriptor.cell, BCS_CELL_STORE);
}

/** Queue a transfer for its next chunk if it can use one now. */
static void want_next(struct nic_view *view, uint32_t id)
{
    struct nic_item *item = &view->items[id];

    if (item->granted < item->total && !item->is_loading && item->loaded_block == 0) {
        nic_schedule_add(&view->node->schedule, view->items, id);
    }
}

/** At the receiver's node: copy a chunk from its block into the receiver's buffer. */
static void move_from_block(struct nic_view *view, const struct bcs_chunk *chunk)
{
    struct nic_item *item = &view->items[chunk->item];
    const struct nic_place to = {item->port, item->descriptor.address + chunk->offset};

    if (chunk->n_bytes > 0) {
        struct bcs_block *block = bcs_block_at(view->engine->base, chunk->block);
        if (!nic_mover_write(view->engine->mover, block->data, &to, chunk->n_bytes)) {
            return;
        }
        bcs_block_free(block);
        __atomic_store_n(&view->node->is_stalled, false, __ATOMIC_RELAXED);
    }
    item->stored += chunk->n_bytes;
    if (item->stored == item->total) {
        complete_receive(view, item);
        nic_item_free(view, chunk->item);
    } else {
        want_next(view, chunk->item);
    }
}

/** At the receiver's node: a chunk has come. */
static void chunk_arrived(struct nic_view *view, const struct bcs_chunk *chunk)
{
    struct nic_item *item = &view->items[chunk->item];

    item->is_loading = 0;
    if (view->engine->mover != NULL && !item->is_stored_by_receiver) {
        move_from_block(view, chunk);
    } else if (item->is_storing) {
        item->loaded_block = chunk->block;
        item->loaded_bytes = chunk->n_bytes;
    } else {
        order_store(view, chunk->item, chunk->block, chunk->n_bytes);
        want_next(view, chunk->item);
    }
}

/** At the receiver's node: the process has stored a chunk. */
static void chunk_stored(struct nic_view *view, const struct bcs_chunk *chunk)
{
    struct nic_item *item = &view->items[chunk->item];
    uint64_t block = item->loaded_block;

    __atomic_store_n(&view->node->is_stalled, false, __ATOMIC_RELAXED);
    item->is_storing = 0;
    item->stored += chunk->n_bytes;
    if (item->stored == item->total) {
        nic_item_free(view, chunk->item);
        return;
    }
    if (block != 0) {
        item->loaded_block = 0;
        order_store(view, chunk->item, block, item->loaded_bytes);
    }
    want_next(view, chunk->item);
}

/** At the sender's node: take a chunk's data to the receiver's node. */
static void send_chunk(struct nic_view *view, const struct bcs_chunk *chunk,
                       const void *data)
{
    struct bcs_descriptor note = {.kind = NIC_WIRE_DATA};
    const struct nic_engine *engine = view->engine;

    note.chunk = *chunk;
    if (chunk->n_bytes > 0) {
        struct bcs_node_set dests = {{0}};
        const struct bcs_xfer xfer = {
            .src = data,
            .n_bytes = chunk->n_bytes,
            .dest_gva = chunk->block - chunk->node * engine->layout.heap_bytes +
                        offsetof(struct bcs_block, data),
            .dests = &dests,
        };
        bcs_node_set_add(&dests, chunk->node);
        nic_engine_xfer(view, &xfer);
    }
    nic_wire_send(view, chunk->node, &note, engine->port);
}

/** At the sender's node: a chunk is in a block of the sender; take it to the receiver. */
static void chunk_loaded(struct nic_view *view, const struct bcs_chunk *chunk,
                         uint64_t block)
{
    char *base = view->engine->base;

    send_chunk(view, chunk, block == 0 ? NULL : bcs_block_at(base, block)->data);
    if (block != 0) {
        bcs_block_free(bcs_block_at(base, block));
    }
}

/** At the sender's node: take a chunk from the sender's buffer to the receiver's node. */
static void move_to_node(struct nic_view *view, const struct bcs_descriptor *grant)
{
    const struct nic_place from = {grant->port, grant->address + grant->chunk.offset};
    const void *data = nic_mover_read(view->engine->mover, &from, grant->chunk.n_bytes);

    if (data == NULL) {
        return;
    }
    send_chunk(view, &grant->chunk, data);
    if (grant->chunk.is_last) {
        nic_view_complete(view, grant->port,
                          nic_view_cell(view, grant->port, grant->cell), BCS_CELL_DONE);
    }
}

/** At the sender's node: a chunk is wanted, from the sender's memory or its block. */
static void chunk_wanted(struct nic_view *view, const struct bcs_descriptor *grant)
{
    if ((grant->flags & BCS_DATA_BLOCK) != 0) {
        chunk_loaded(view, &grant->chunk, grant->address);
        if ((grant->flags & BCS_SYNCHRONOUS) != 0) {
            tell_matched(view, grant->port, grant->cell);
        }
    } else if (view->engine->mover != NULL && (grant->flags & BCS_LAID_OUT) == 0) {
        move_to_node(view, grant);
    } else {
        struct bcs_cell *cell = nic_view_cell(view, grant->port, grant->cell);
        cell->chunk = grant->chunk;
        give_order(view, grant->port, grant->cell, BCS_CELL_LOAD);
    }
}

/** A free stage block for data from a node, or 0. */
static uint64_t stage_block(struct nic_view *view, uint32_t from)
{
    const struct nic_layout *layout = &view->engine->layout;
    uint32_t n = nic_view_limits(view)->stage_blocks;
    uint64_t offset = view->index * layout->heap_bytes + layout->stage_gva +
                      (uint64_t)from * n * layout->stage_stride_bytes;

    for (uint32_t i = 0; i < n; i++, offset += layout->stage_stride_bytes) {
        struct bcs_block *block = bcs_block_at(view->engine->base, offset);
        /* acquire: pairs with bcs_block_free by the process that has stored the chunk */
        if (atomic_load_explicit(&block->busy, memory_order_acquire) == 0) {
            atomic_store_explicit(&block->busy, 1, memory_order_relaxed);
            return offset;
        }
    }
    return 0;
}

/** Ask the sender's node for a chunk. */
static void grant_blocks(struct nic_view *view, const struct nic_plan *plan)
{
    struct nic_item *item = &view->items[plan->item];
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
            BCS_DATA_BLOCK | (item->peer_cell != BCS_CELL_NONE ? BCS_SYNCHRONOUS : 0);
    }
    grant.chunk = (struct bcs_chunk){
        .offset = plan->offset,
        .n_bytes = plan->n_bytes,
        .item = plan->item,
        .node = view->index,
        .is_last = plan->offset + plan->n_bytes == item->total,
    };
    if (plan->n_bytes > 0) {
        grant.chunk.block = stage_block(view, from);
        if (grant.chunk.block == 0) {
            item->granted -= plan->n_bytes;
            item->chunk_left += plan->n_bytes;
            item->is_loading = 0;
            __atomic_store_n(&view->node->is_stalled, true, __ATOMIC_RELAXED);
            nic_schedule_add(&view->node->schedule, view->items, plan->item);
            return;
        }
    }
    nic_wire_send(view, from, &grant, item->peer);
}

static void note(struct nic_view *view, const struct nic_posted *posted)
{
    const struct bcs_descriptor *descriptor = nic_posted_descriptor(view, posted);

    switch (descriptor->kind) {
    case BCS_CHUNK_MOVED:
        nic_schedule_add(&view->node->schedule, view->items, descriptor->chunk.item);
        break;
    case BCS_CHUNK_LOADED:
        chunk_loaded(view, &descriptor->chunk, descriptor->address);
        if (descriptor->chunk.is_last) {
            nic_view_touch(view, posted->port); /* it may wait for the block */
        }
        break;
    case BCS_CHUNK_STORED:
        chunk_stored(view, &descriptor->chunk);
        break;
    case NIC_WIRE_GRANT:
        chunk_wanted(view, descriptor);
        break;
    case NIC_WIRE_DATA:
        chunk_arrived(view, &descriptor->chunk);
        break;
    case NIC_WIRE_MATCHED:
        tell_matched(view, descriptor->port, descriptor->cell);
        break;
    default:
        break; /* the collective helper's */
    }
}

void nic_dma_helper_step(struct nic_view *view)
{
    struct nic_batch *batch = &view->node->batch;

    for (uint32_t i = 0; i < batch->n_pairs; i++) {
        deliver(view, &batch->pairs[i]);
    }
    for (uint32_t i = 0; i < batch->n_notes; i++) {
        note(view, &batch->notes[i]);
    }
    for (uint32_t i = 0; i < batch->n_plans; i++) {
        const struct nic_item *item = &view->items[batch->plans[i].item];
        if (!item->is_local) {
            grant_blocks(view, &batch->plans[i]);
        } else if (view->engine->mover != NULL && !nic_item_needs_ends(item)) {
            move_local(view, &batch->plans[i]);
        } else {
            grant_local(view, &batch->plans[i]);
        }
    }
}
