/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the cells are dealt out to the ranks: a grid of NPE_I x NPE_J processes cuts the
 * i and the j axis into blocks; every process holds all k planes of its block.
 */
#ifndef SWEEP3D_DECOMPOSITION_H
#define SWEEP3D_DECOMPOSITION_H

#include "apps/sweep3d/input.h"
#include "apps/sweep3d/options.h"

/* One axis as one process sees it. Blocks differ by at most one cell, larger first. */
struct axis {
    int n_cells;
    int n_processes;
    int position;
    /* This process's cells, the first one counted from 0. */
    int first;
    int n_mine;
    /* Ranks of the neighbours toward lower and higher indices, or MPI_PROC_NULL. */
    int lower, higher;
};

struct decomposition {
    struct axis i, j;
    int n_k;
    int rank, n_ranks;
};

/**
 * Choose the process grid (--grid, else the input file, else MPI_Dims_create) and find
 * this process's place in it. Every rank calls it, with the same outcome.
 *
 * @param message  gets one line if the result is not 0; MESSAGE_BYTES long
 * @return 0, or -EINVAL: the grid does not fit the number of ranks or of cells
 */
int decomposition_init(struct decomposition *decomposition, const struct input *input,
                       const struct options *options, char *message);

/** Set *first_out and *n_out to the block of an axis that a position holds. */
void axis_block(const struct axis *axis, int position, int *first_out, int *n_out);

#endif
