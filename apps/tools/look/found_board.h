/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The board in the segment of somebody else's machine: found, and checked before
 * anything is used as a size or a place. Used by look.c.
 */
#ifndef APPS_TOOLS_LOOK_FOUND_BOARD_H
#define APPS_TOOLS_LOOK_FOUND_BOARD_H

#include <stdatomic.h>
#include <string.h>

#include "libbcs/fabric/ring/board.h"

/** Copy what others may change meanwhile, so that the compiler reads it once. */
static inline void bcs_board_copy(void *to, const void *from, size_t n_bytes)
{
    memcpy(to, from, n_bytes);
    /* What is read of the copy is not read of the original: it may have changed. */
    atomic_signal_fence(memory_order_seq_cst);
}

/**
 * Find the board in a machine's segment.
 *
 * @param board_out    a copy of its head, which is sound
 * @param nodes_out    of the board, in the segment
 * @param version_out  [BCS_SIGN_VERSION_BYTES] of the job
 * @return 0, or as bcs_look_open
 */
int bcs_board_find(const char *base, uint64_t n_bytes, struct bcs_board *board_out,
                   const struct bcs_board_node **nodes_out, char *version_out);

#endif
