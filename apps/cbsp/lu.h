/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An LU decomposition with partial pivoting on a grid of processes: the state that one
 * process has, and the stages. main() and the verification are in lu.c.
 */
#ifndef CBSP_LU_H
#define CBSP_LU_H

#include <stddef.h>
#include <stdint.h>

#include "apps/cbsp/world.h"

/* What process (row, column) of a grid of rows x columns processes is. The elements of
 * a vector are dealt out cyclically: over the rows of the grid along a column of the
 * matrix, over its columns along a row. */
struct lu_grid {
    int rows;
    int columns;
    int row;
    int column;
};

/* The largest element of a column that one process has seen. */
struct lu_candidate {
    double value;
    size_t row;
};

struct lu {
    struct world *world;
    struct lu_grid grid;
    size_t n;
    /* Exchange rows in supersteps whose count is taken for known. */
    bool is_swap_counted;
    /* Own rows and columns; matrix is [own row][own column]. */
    size_t n_rows;
    size_t n_columns;
    struct area matrix;
    /* [row of the grid], where the pivot is looked for. */
    struct area candidates;
    /* The row that is the pivot, on every process. */
    struct area pivot;
    /* The part of the pivot's column that belongs to the own rows, and of its row that
     * belongs to the own columns. */
    struct area multipliers;
    struct area top;
    /* [n] which row of A is row i of L U. */
    size_t *permutation;
};

/** Which of the elements from first on belong to part index of parts: the number of
 *  elements before first that do. */
size_t lu_n_before(size_t first, int index, int parts);

/** Make the state of this process for an n x n matrix, zero so far. Collective. */
void lu_init(struct lu *lu, struct world *world, size_t n, bool is_swap_counted);

/** Free it; collective. */
void lu_fini(struct lu *lu);

/** Address of an element that this process has. */
double *lu_element(const struct lu *lu, size_t row, size_t column);

/** Decompose: L below the diagonal, U from it on. Five supersteps a stage. */
void lu_decompose(struct lu *lu);

#endif
