/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Filling the board of a machine's segment (libbcs/fabric/ring/board.h), so that who
 * looks from outside finds the job. Called once by each process while it attaches.
 */
#ifndef LIBBCS_API_BOARD_FILL_H
#define LIBBCS_API_BOARD_FILL_H

#include <bcs/bcs.h>

/** Put this process's part on the board: the first one of the machine the sign and the
 *  job, the first one of a node where its heap is. After all have mapped the
 *  segment. */
void bcs_board_fill(const struct bcs_context *context);

#endif
