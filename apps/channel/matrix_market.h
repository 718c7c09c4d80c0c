/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a matrix from a file in the Matrix Market exchange format. Nothing in the file
 * is trusted: it may be damaged, or made to mislead.
 */
#ifndef CHANNEL_MATRIX_MARKET_H
#define CHANNEL_MATRIX_MARKET_H

#include <stdio.h>

#include "apps/channel/sparse.h"

/**
 * Read a square matrix of coordinates: real, integer or pattern; general or symmetric,
 * of which the file has the lower triangle. Memory is taken for what the file has, not
 * for what it says that it has. A pattern has no values: each entry becomes -1, and the
 * diagonal one more than its row has others, whether the file has it or not.
 *
 * @param name      of the file, for messages
 * @param message gets one line, with the number of the line where that is known, if the
 *                  result is not 0; MESSAGE_BYTES long
 * @return 0; -EINVAL: it is no such file; -EIO: it cannot be read; -ENOMEM
 */
int matrix_market_read(FILE *file, const char *name, struct sparse *matrix_out,
                       char *message);

#endif
