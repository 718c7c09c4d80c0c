/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The atomic words of a direct transfer; see pieces.h. Any process and thread.
 */
#include "libbcs/fabric/ring/pieces.h"

#include "libbcs/fabric/ring/port.h"

enum {
    PIECE_MIN_BYTES = 16 << 10,
    PIECE_MAX_BYTES = 1 << 20,
    PIECE_STREAMED_BYTES = 32 << 10,
};

_Static_assert((int)PIECE_STREAMED_BYTES <= (int)BCS_CHUNK_BLOCK_BYTES, "fits a block");

/** How much to claim of [claimed, granted), which is not empty. If both ends are going
 *  to copy, each takes half of the chunk: every piece costs a system call, and of two
 *  smaller ones it is by chance which end gets them, whose cache has them or not. */
static uint64_t piece_bytes(const struct bcs_transfer *transfer, uint64_t claimed,
                            uint64_t granted)
{
    uint64_t n_left_bytes = granted - claimed;
    uint64_t n_bytes = PIECE_MAX_BYTES;

    if (transfer->is_streamed) {
        n_bytes = PIECE_STREAMED_BYTES;
    } else if (transfer->is_shared) {
        /* relaxed: the engine changes it when all before it has been claimed; then this
         * claim fails */
        n_bytes =
            (granted -
             atomic_load_explicit(&transfer->chunk_begin, memory_order_relaxed) + 1) /
            2;
        n_bytes = n_bytes < PIECE_MIN_BYTES ? PIECE_MIN_BYTES : n_bytes;
        n_bytes = n_bytes > PIECE_MAX_BYTES ? PIECE_MAX_BYTES : n_bytes;
    }
    return n_bytes < n_left_bytes ? n_bytes : n_left_bytes;
}

bool bcs_transfer_claim(struct bcs_transfer *transfer, struct bcs_piece *piece_out)
{
    uint64_t claimed = atomic_load_explicit(&transfer->claimed, memory_order_relaxed);

    for (;;) {
        /* acquire: pairs with the release in the DMA helper's grant_local */
        uint64_t granted =
            atomic_load_explicit(&transfer->granted, memory_order_acquire);
        uint64_t n_bytes;

        /* relaxed: it only spares work that is done again */
        if (claimed == granted ||
            atomic_load_explicit(&transfer->is_refused, memory_order_relaxed) != 0) {
            return false;
        }
        n_bytes = piece_bytes(transfer, claimed, granted);
        if (atomic_compare_exchange_weak_explicit(
                &transfer->claimed, &claimed, claimed + n_bytes, memory_order_relaxed,
                memory_order_relaxed)) {
            *piece_out = (struct bcs_piece){claimed, n_bytes};
            return true;
        }
    }
}

enum bcs_piece_end bcs_transfer_moved(struct bcs_transfer *transfer, uint64_t n_bytes)
{
    uint64_t n_wanted = transfer->n_wanted;
    uint64_t granted = atomic_load_explicit(&transfer->granted, memory_order_relaxed);
    /* seq_cst: see libbcs/api/message/transfer.c; also orders the copied bytes before
     * the end */
    uint64_t moved =
        atomic_fetch_add_explicit(&transfer->moved, n_bytes, memory_order_seq_cst) +
        n_bytes;

    if (moved == n_wanted) {
        return BCS_MESSAGE_END;
    }
    return moved == granted ? BCS_CHUNK_END : BCS_PIECE_END;
}

bool bcs_transfer_refuse(struct bcs_transfer *transfer)
{
    /* seq_cst: see bcs_transfer_let_go, and the sender's end in
     * libbcs/api/message/transfer.c */
    return atomic_exchange_explicit(&transfer->is_refused, 1, memory_order_seq_cst) ==
           0;
}

bool bcs_transfer_is_moved(const struct bcs_transfer *transfer)
{
    return atomic_load_explicit(&transfer->moved, memory_order_seq_cst) ==
           transfer->n_wanted;
}

/** Change a cell's state under one generation. @return whether it was in that state */
static bool change(struct bcs_cell *cell, uint32_t generation, enum bcs_cell_state from,
                   enum bcs_cell_state to)
{
    uint32_t expected = generation << BCS_CELL_STATE_BITS | from;

    /* acquire: pairs with the engine's release of the transfer's fields, and with
     * bcs_transfer_let_go; seq_cst, for the wake that may follow there */
    return atomic_compare_exchange_strong_explicit(
        &cell->state, &expected, generation << BCS_CELL_STATE_BITS | to,
        memory_order_seq_cst, memory_order_relaxed);
}

bool bcs_transfer_hold(struct bcs_cell *cell, uint32_t generation)
{
    return change(cell, generation, BCS_CELL_TRANSFER, BCS_CELL_HELD);
}

bool bcs_transfer_let_go(struct bcs_cell *cell, uint32_t generation)
{
    /* release: pairs with the acquire of bcs_transfer_close */
    uint32_t before = atomic_exchange_explicit(
        &cell->state, generation << BCS_CELL_STATE_BITS | BCS_CELL_TRANSFER,
        memory_order_seq_cst);

    return (before & BCS_CELL_STATE_MASK) == BCS_CELL_AWAITED;
}

bool bcs_transfer_close(struct bcs_cell *cell)
{
    uint32_t generation =
        atomic_load_explicit(&cell->state, memory_order_relaxed) >> BCS_CELL_STATE_BITS;

    do {
        if (change(cell, generation, BCS_CELL_TRANSFER, BCS_CELL_CLOSING)) {
            return true;
        }
        /* Let go meanwhile: again, since who is not awaited wakes nobody. */
    } while (!change(cell, generation, BCS_CELL_HELD, BCS_CELL_AWAITED) &&
             bcs_cell_state(cell) != BCS_CELL_AWAITED);
    return false;
}
