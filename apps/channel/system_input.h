/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The triangular system that channel_triangle solves: where it comes from. Rank 0 makes
 * it.
 */
#ifndef CHANNEL_SYSTEM_INPUT_H
#define CHANNEL_SYSTEM_INPUT_H

#include <stdbool.h>

#include "apps/channel/sparse.h"

/** What the command line asks for. */
struct system_input {
    const char *path; /* of a Matrix Market file; NULL: a grid */
    long points[3];   /* of the grid; the third is 1 if it has two axes */
    bool is_triangle; /* the matrix's own lower triangle, not that of its factors */
};

/**
 * Parse the points of a grid: NXxNY or NXxNYxNZ.
 *
 * @param message  gets one line if they are refused; MESSAGE_BYTES long
 * @return 0 or -EINVAL
 */
int system_input_take_grid(const char *text, long points_out[3], char *message);

/**
 * Make the system: entries below the diagonal, which is one, and a right-hand side.
 *
 * @param rhs_out   [n_rows]; the caller's to free
 * @param message   as above
 * @return 0, or -errno
 */
int system_input_make(const struct system_input *input, struct sparse *lower_out,
                      double **rhs_out, char *message);

#endif
