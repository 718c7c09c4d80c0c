/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Claiming and accounting of the pieces of a direct transfer, by whoever copies: the
 * two endpoints (libbcs/api/message/transfer.c, which has the protocol between them)
 * and the background thread (nic_threads/service/background.c). Any process and thread.
 *
 * Who may touch the receiver's cell beside its owner. The sender does in state JOINED
 * of its own cell. The background thread does while it holds the cell, which it takes
 * by a compare-and-swap from TRANSFER to HELD of one generation; the owner ends a
 * transfer by a compare-and-swap from TRANSFER to CLOSING, so that only one of the two
 * succeeds, and a held cell cannot be used for anything else. An owner that finds it
 * held marks it as AWAITED, and goes on claiming pieces meanwhile.
 */
#ifndef LIBBCS_FABRIC_RING_PIECES_H
#define LIBBCS_FABRIC_RING_PIECES_H

#include <stdbool.h>

#include "libbcs/fabric/ring/descriptor.h"

/** A part of a message that one process copies in one go. */
struct bcs_piece {
    uint64_t offset;
    uint64_t n_bytes;
};

/** What the end of a piece is the end of, too. */
enum bcs_piece_end {
    BCS_PIECE_END, /* nothing else */
    BCS_CHUNK_END, /* all that is granted so far; the next chunk must be asked for */
    BCS_MESSAGE_END,
};

/** Claim a piece of what is granted. @return whether there was one; none is claimed
 *  after bcs_transfer_refuse */
bool bcs_transfer_claim(struct bcs_transfer *transfer, struct bcs_piece *piece_out);

/** Account for a piece that has been copied. Exactly one piece gets each other end. */
enum bcs_piece_end bcs_transfer_moved(struct bcs_transfer *transfer, uint64_t n_bytes);

/** A claimed piece may not be copied: the chunk must begin anew, streamed, when nobody
 *  else is in the transfer. @return whether this is the first one to find that */
bool bcs_transfer_refuse(struct bcs_transfer *transfer);

/** Whether somebody has called bcs_transfer_refuse for this chunk. */
static inline bool bcs_transfer_is_refused(const struct bcs_transfer *transfer)
{
    return atomic_load_explicit(&transfer->is_refused, memory_order_seq_cst) != 0;
}

/** Whether the whole message has been copied. seq_cst; the bytes are visible then. */
bool bcs_transfer_is_moved(const struct bcs_transfer *transfer);

/** Background thread: hold a cell. @return whether it is still the transfer that it was
 *  under this generation */
bool bcs_transfer_hold(struct bcs_cell *cell, uint32_t generation);

/** Let a held cell go. @return whether its owner has tried to close it meanwhile, and
 *  must be woken */
bool bcs_transfer_let_go(struct bcs_cell *cell, uint32_t generation);

/** Owner: nobody is to hold the cell any more. @return false: somebody does, and wakes
 *  the owner when the cell has been let go; try again */
bool bcs_transfer_close(struct bcs_cell *cell);

#endif
