/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copying of long messages by the processes at their ends, outside of the engine lock.
 * Called by the owner of the context while it waits or tests. Where neither end comes,
 * the background thread copies (nic_threads/service/background.c), unless the message
 * is streamed.
 *
 * Within a node. The state is in the receiver's cell: `granted` (raised by the engine,
 * one chunk a slice), `claimed` and `moved`. Who has claimed a piece of the granted
 * part, by compare-and-swap, moves it, and adds it to `moved`. Exactly one piece brings
 * `moved` to `granted`; if that is not the end of the message, whoever has added it
 * posts CHUNK_MOVED, and the engine grants no more before that.
 *
 * - Direct: either end claims, and copies with one system call.
 * - Streamed, where a buffer has gaps, the kernel forbids direct copies, or the
 *   receiver has found that this is faster (pace.h) and both stay: the sender claims,
 *   and loads the piece into a block of its own, which it publishes in its cell (struct
 *   bcs_stream); the receiver stores the pieces in their order, frees the blocks and
 *   counts the bytes as moved. Each wakes the other after each piece. A block goes from
 *   one to the other by an entry of the stream: the sender's store of its offset
 *   (release) pairs with the receiver's load, the receiver's store of 0 with the
 *   sender's.
 *
 * Direct copies that are refused (nic_threads/machine/node_copy.h). Who has claimed a
 * piece and may not copy it sets `is_refused` and never adds the piece to `moved`: so
 * the chunk does not end, and nobody claims any more. If that is not the receiver, it
 * posts COPY_REFUSED, and the engine has the receiver look at the transfer, whatever it
 * waits for. The receiver puts everybody out: the background thread by closing its own
 * cell, the sender by a compare-and-swap from SOURCE to PENDING. Then it posts
 * COPY_REFUSED itself, and the engine lets both begin the chunk anew, streamed. What
 * has been copied of it is copied once more. Until it has succeeded, the transfer is
 * one of the receiver's orders, and who stands in its way wakes it on leaving.
 *
 * Who may touch whose cell. The receiver's cell must stay while the sender uses it: the
 * sender does so only in state JOINED, which it enters by a compare-and-swap from
 * SOURCE. When all is moved, the receiver ends the sender's part by a compare-and-swap
 * from SOURCE (of this generation) to DONE; if the sender has joined, the receiver
 * waits, and the sender, which looks at `moved` after it has joined, ends by itself
 * with sender_left = 1 as its last access. Joining and the look at `moved`, and the
 * last addition to `moved` and the look at the sender's state, are both seq_cst, so one
 * of the two sees the other. A sender that leaves without having seen the end wakes the
 * receiver, which looks again. The receiver reads the stream only before the last piece
 * is moved, when the sender's cell cannot have ended.
 *
 * Between nodes, chunks go through blocks: see nic_threads/roles/dma_helper.c; the cell
 * is the process's own from the order (LOAD, STORE) until it posts the answer.
 */
#include "libbcs/api/message/transfer.h"

#include <string.h>

#include "libbcs/api/message/off_node.h"
#include "libbcs/api/message/orders.h"
#include "libbcs/api/message/post.h"
#include "libbcs/fabric/base/layout.h"
#include "libbcs/fabric/ring/pieces.h"
#include "nic_threads/machine/node_copy.h"

static struct bcs_port *port_of(const struct bcs_context *context, uint32_t port)
{
    return nic_engine_port(context->engine, port);
}

static struct bcs_cell *cell_of(const struct bcs_context *context, uint32_t port,
                                uint32_t cell)
{
    return nic_engine_cell(context->engine, port, cell);
}

/** Copy n_bytes of a send's data, from a position on, to contiguous memory. */
static void load(const struct bcs_request *request, size_t position, size_t n_bytes,
                 void *to)
{
    const struct bcs_request_state *inside = bcs_request_state(request);

    if (inside->layout != NULL) {
        bcs_layout_pack(inside->layout, inside->data, position, n_bytes, to);
    } else {
        memcpy(to, (const char *)inside->data + position, n_bytes);
    }
}

void bcs_request_store(const struct bcs_request *request, size_t position,
                       size_t n_bytes, const void *from)
{
    const struct bcs_request_state *inside = bcs_request_state(request);

    if (inside->layout != NULL) {
        bcs_layout_unpack(inside->layout, from, position, n_bytes, inside->data);
    } else {
        memcpy((char *)inside->data + position, from, n_bytes);
    }
}

/** Account for a copied piece; ask for the next chunk if this one is complete. */
static void piece_done(struct bcs_context *context, struct bcs_transfer *transfer,
                       uint32_t receiver, uint64_t n_bytes)
{
    uint32_t item = transfer->item;

    if (bcs_transfer_moved(transfer, n_bytes) == BCS_CHUNK_END) {
        struct bcs_ring_writer *ring = bcs_post_to(context, receiver);
        struct bcs_descriptor *entry = bcs_post_begin(context, ring, BCS_CHUNK_MOVED);
        entry->chunk.item = item;
        bcs_post_kick(context, ring, entry);
    }
}

/** Put the sender out of our cell, into another state. @return whether it is out */
static bool put_sender_out(struct bcs_context *context, struct bcs_cell *cell,
                           enum bcs_cell_state state)
{
    struct bcs_cell *sender = cell_of(context, cell->peer_port, cell->peer_cell);
    uint32_t expected = cell->peer_generation << BCS_CELL_STATE_BITS | BCS_CELL_SOURCE;
    uint32_t wanted = cell->peer_generation << BCS_CELL_STATE_BITS | state;

    return atomic_compare_exchange_strong_explicit(
        &sender->state, &expected, wanted, memory_order_seq_cst, memory_order_seq_cst);
}

/** All is moved: end the sender's part. @return whether it is out of our cell */
static bool dismiss_sender(struct bcs_context *context, struct bcs_cell *cell)
{
    /* acquire: pairs with the sender's release of its last access */
    if (atomic_load_explicit(&cell->transfer.sender_left, memory_order_acquire) != 0) {
        return true;
    }
    if (!put_sender_out(context, cell, BCS_CELL_DONE)) {
        return false;
    }
    bcs_sleep_wake(context->engine->machine, port_of(context, cell->peer_port));
    return true;
}

/** Tell the engine that direct copies of a transfer are refused, which is in a
 *  receiver's cell. */
static void post_refused(struct bcs_context *context, uint32_t port, uint32_t cell)
{
    struct bcs_ring_writer *ring = bcs_post_to(context, port);
    struct bcs_descriptor *entry = bcs_post_begin(context, ring, BCS_COPY_REFUSED);

    entry->port = port;
    entry->cell = cell;
    bcs_post_kick(context, ring, entry);
}

/** Receiver: put everybody out of a transfer with a refused copy, and have the chunk
 *  begin anew; as far as it can be done now. */
static void begin_anew(struct bcs_context *context, struct bcs_cell *cell,
                       const struct bcs_request *request)
{
    bool is_closed =
        bcs_cell_state(cell) == BCS_CELL_CLOSING || bcs_transfer_close(cell);

    if (!is_closed || !put_sender_out(context, cell, BCS_CELL_PENDING)) {
        bcs_order_self(context, bcs_request_state(request)->cell);
        return;
    }
    bcs_cell_complete(cell, BCS_CELL_PENDING);
    post_refused(context, context->port, bcs_request_state(request)->cell);
}

/** Copy what is granted between the sender's and the receiver's memory, at either
 *  end. */
static void copy_pieces(struct bcs_context *context, const struct bcs_cell *cell,
                        struct bcs_transfer *transfer,
                        const struct bcs_request *request)
{
    const struct bcs_request_state *inside = bcs_request_state(request);
    uint64_t address = inside->is_send ? transfer->target : cell->address;
    enum nic_outcome outcome = NIC_DONE;
    struct bcs_piece piece;

    context->is_moving = true;
    while (outcome == NIC_DONE && bcs_transfer_claim(transfer, &piece)) {
        const struct nic_place there = {cell->peer_port, address + piece.offset};
        char *here = (char *)inside->data + piece.offset;

        outcome = inside->is_send
                      ? nic_process_write(context->engine, &there, here, piece.n_bytes)
                      : nic_process_read(context->engine, &there, here, piece.n_bytes);
        if (outcome == NIC_DONE) {
            piece_done(context, transfer,
                       inside->is_send ? cell->peer_port : context->port,
                       piece.n_bytes);
        }
    }
    if (outcome == NIC_REFUSED && bcs_transfer_refuse(transfer) && inside->is_send) {
        post_refused(context, cell->peer_port, cell->peer_cell);
    }
}

/** Store the pieces that the sender has loaded. */
static void store_pieces(struct bcs_context *context, const struct bcs_cell *cell,
                         struct bcs_transfer *transfer,
                         const struct bcs_request *request)
{
    struct bcs_stream *stream =
        &cell_of(context, cell->peer_port, cell->peer_cell)->stream;

    while (!bcs_transfer_is_moved(transfer)) {
        uint32_t i = transfer->n_stored & (context->config.limits.stream_pieces - 1);
        /* acquire: pairs with the release in load_pieces */
        uint64_t offset =
            atomic_load_explicit(&stream->pieces[i].block, memory_order_acquire);
        struct bcs_block *block = bcs_poster_block_at(&context->poster, offset);
        uint64_t n_bytes;

        if (offset == 0) {
            return;
        }
        n_bytes = stream->pieces[i].n_bytes;
        bcs_request_store(request,
                          atomic_load_explicit(&transfer->moved, memory_order_relaxed),
                          n_bytes, block->data);
        bcs_block_free(block);
        /* release: pairs with the acquire in load_pieces */
        atomic_store_explicit(&stream->pieces[i].block, 0, memory_order_release);
        transfer->n_stored++;
        context->is_moving = true;
        piece_done(context, transfer, context->port, n_bytes);
        bcs_sleep_wake(context->engine->machine, port_of(context, cell->peer_port));
    }
}

/** All is over: remember how long it took, if that was nobody's fault but the
 *  copies'. */
static void note_pace(struct bcs_context *context, const struct bcs_cell *cell)
{
    const struct bcs_transfer *transfer = &cell->transfer;

    if (transfer->began != 0) {
        uint32_t n_units = bcs_transfer_now() - transfer->began;

        bcs_pace_note(&context->pace, cell->peer_port, transfer->n_wanted,
                      transfer->is_streamed,
                      (uint64_t)n_units << BCS_TRANSFER_TICKS_SHIFT);
    }
}

bool bcs_transfer_pull(struct bcs_context *context, struct bcs_cell *cell,
                       const struct bcs_request *request)
{
    struct bcs_transfer *transfer = &cell->transfer;

    if (bcs_cell_state(cell) != BCS_CELL_CLOSING) {
        if (transfer->is_streamed) {
            store_pieces(context, cell, transfer, request);
        } else {
            copy_pieces(context, cell, transfer, request);
        }
    }
    if (bcs_transfer_is_refused(transfer)) {
        begin_anew(context, cell, request);
        return false;
    }
    if (bcs_cell_state(cell) != BCS_CELL_CLOSING) {
        if (!bcs_transfer_is_moved(transfer) || !bcs_transfer_close(cell)) {
            return false;
        }
    }
    if (!dismiss_sender(context, cell)) {
        return false;
    }
    note_pace(context, cell);
    bcs_cell_complete(cell, BCS_CELL_DONE);
    return true;
}

/** Load pieces for the receiver, as long as the stream has room for them. */
static void load_pieces(struct bcs_context *context, struct bcs_cell *cell,
                        struct bcs_transfer *transfer,
                        const struct bcs_request *request)
{
    struct bcs_stream *stream = &cell->stream;

    for (;;) {
        uint32_t i = stream->n_loaded & (context->config.limits.stream_pieces - 1);
        struct bcs_piece piece;
        uint64_t block;

        /* acquire: pairs with the release in store_pieces */
        if (atomic_load_explicit(&stream->pieces[i].block, memory_order_acquire) != 0) {
            return;
        }
        block = bcs_poster_chunk_block(&context->poster);
        if (block == 0) {
            return;
        }
        if (!bcs_transfer_claim(transfer, &piece)) {
            bcs_block_free(bcs_poster_block_at(&context->poster, block));
            return;
        }
        load(request, piece.offset, piece.n_bytes,
             bcs_poster_block_at(&context->poster, block)->data);
        stream->pieces[i].n_bytes = piece.n_bytes;
        /* release: pairs with the acquire in store_pieces; seq_cst, as the wake
         * needs */
        atomic_store_explicit(&stream->pieces[i].block, block, memory_order_seq_cst);
        stream->n_loaded++;
        context->is_moving = true;
        bcs_sleep_wake(context->engine->machine, port_of(context, cell->peer_port));
    }
}

bool bcs_transfer_push(struct bcs_context *context, struct bcs_cell *cell,
                       const struct bcs_request *request)
{
    struct bcs_port *receiver_port = port_of(context, cell->peer_port);
    struct bcs_cell *receiver = cell_of(context, cell->peer_port, cell->peer_cell);
    uint32_t source = atomic_load_explicit(&cell->state, memory_order_relaxed);
    uint32_t joined = (source & ~(uint32_t)BCS_CELL_STATE_MASK) | BCS_CELL_JOINED;

    if ((source & BCS_CELL_STATE_MASK) != BCS_CELL_SOURCE ||
        !atomic_compare_exchange_strong_explicit(&cell->state, &source, joined,
                                                 memory_order_seq_cst,
                                                 memory_order_relaxed)) {
        return false; /* the receiver has ended it: the next look sees DONE */
    }
    if (receiver->transfer.is_streamed) {
        load_pieces(context, cell, &receiver->transfer, request);
    } else {
        copy_pieces(context, cell, &receiver->transfer, request);
    }
    if (bcs_transfer_is_moved(&receiver->transfer)) {
        /* release: pairs with the acquire in dismiss_sender */
        atomic_store_explicit(&receiver->transfer.sender_left, 1, memory_order_release);
        atomic_thread_fence(memory_order_seq_cst);
        bcs_sleep_wake(context->engine->machine, receiver_port);
        return true;
    }
    atomic_store_explicit(&cell->state, source, memory_order_seq_cst);
    bcs_sleep_wake(context->engine->machine, receiver_port);
    return false;
}

/** Load a chunk straight into its block at the receiver's node. */
static void load_off_node(struct bcs_context *context, const struct bcs_chunk *chunk,
                          const struct bcs_request *request)
{
    const struct bcs_request_state *inside = bcs_request_state(request);
    const struct bcs_off_node_data data = {.layout = inside->layout,
                                           .data = inside->data,
                                           .position = chunk->offset,
                                           .n_bytes = chunk->n_bytes};

    bcs_off_node_put(context, chunk->port, chunk->block, &data);
}

bool bcs_transfer_load(struct bcs_context *context, struct bcs_cell *cell,
                       const struct bcs_request *request)
{
    const struct bcs_chunk chunk = cell->chunk;
    /* else the engine takes it from a block here */
    bool has_links = context->links != NULL;
    struct bcs_ring_writer *ring;
    struct bcs_descriptor *entry;
    uint64_t block = 0;

    if (chunk.n_bytes > 0 && has_links) {
        load_off_node(context, &chunk, request);
    } else if (chunk.n_bytes > 0) {
        block = bcs_poster_chunk_block(&context->poster);
        if (block == 0) {
            return false;
        }
        load(request, chunk.offset, chunk.n_bytes,
             bcs_poster_block_at(&context->poster, block)->data);
    }
    bcs_cell_complete(cell, chunk.is_last ? BCS_CELL_DONE : BCS_CELL_PENDING);
    ring = has_links ? bcs_post_to(context, chunk.port) : bcs_post_own(context);
    entry = bcs_post_begin(context, ring,
                           has_links ? (enum bcs_descriptor_kind)NIC_WIRE_DATA
                                     : BCS_CHUNK_LOADED);
    entry->address = block;
    entry->chunk = chunk;
    bcs_post_kick(context, ring, entry);
    return chunk.is_last;
}

bool bcs_transfer_store(struct bcs_context *context, struct bcs_cell *cell,
                        const struct bcs_request *request)
{
    const struct bcs_chunk chunk = cell->chunk;
    struct bcs_ring_writer *ring = bcs_post_own(context);
    struct bcs_descriptor *entry;

    if (chunk.n_bytes > 0) {
        struct bcs_block *block = bcs_poster_block_at(&context->poster, chunk.block);
        bcs_request_store(request, chunk.offset, chunk.n_bytes, block->data);
        bcs_block_free(block);
    }
    bcs_cell_complete(cell, chunk.is_last ? BCS_CELL_DONE : BCS_CELL_PENDING);
    entry = bcs_post_begin(context, ring, BCS_CHUNK_STORED);
    entry->chunk = chunk;
    bcs_post_kick(context, ring, entry);
    return chunk.is_last;
}
