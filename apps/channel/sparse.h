/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A square sparse matrix by rows, on one process, and what comes of it: its lower
 * triangle with ones on the diagonal, by which a preconditioner is solved. [Low Latency
 * Messages, section 4.1]
 */
#ifndef CHANNEL_SPARSE_H
#define CHANNEL_SPARSE_H

#include <stddef.h>
#include <stdint.h>

enum { SPARSE_ROWS_MOST = 1 << 24, SPARSE_ENTRIES_MOST = 1 << 28 };

/** Row i has entries starts[i] to starts[i + 1] - 1, columns ascending. */
struct sparse {
    size_t n_rows;
    size_t *starts;    /* [n_rows + 1] */
    uint32_t *columns; /* [starts[n_rows]] */
    double *values;
};

/**
 * Make room for a matrix.
 *
 * @return 0, or -ENOMEM: nothing is to be freed
 */
int sparse_init(struct sparse *matrix, size_t n_rows, size_t n_entries);

/** Free it. Accepts one that is all zero. */
void sparse_fini(struct sparse *matrix);

/**
 * The matrix of Poisson's equation on a grid, by differences of second order: 2 an axis
 * on the diagonal, -1 for each neighbour.
 *
 * @param points   along each of three axes; 1 for one that is not there
 * @return 0 or -ENOMEM
 */
int sparse_make_poisson(const long points[3], struct sparse *matrix_out);

/**
 * Replace a matrix by its incomplete factors without fill-in, ILU(0): of L below the
 * diagonal, which is one and not stored, of U on it and above.
 *
 * @param message  gets one line if the result is not 0; MESSAGE_BYTES long
 * @return 0; -EINVAL: a diagonal entry is not there, a pivot is zero, or an entry of
 *         the factors is not finite; -ENOMEM
 */
int sparse_factorize(struct sparse *matrix, char *message);

/**
 * Divide each row by its diagonal entry.
 *
 * @return as sparse_factorize
 */
int sparse_scale(struct sparse *matrix, char *message);

/** Take the diagonal and what is above it out of a matrix. */
void sparse_keep_lower(struct sparse *matrix);

/**
 * Which rows could be solved at the same time: a row is one level above the highest of
 * those that it depends on. [section 4.1: "which row substitutions can be carried out
 * independently"]
 *
 * @param lower       entries below the diagonal only
 * @param levels_out  [n_rows], from 0
 * @return how many levels there are
 */
uint32_t sparse_levels(const struct sparse *lower, uint32_t *levels_out);

/** Solve L y = rhs, L being the entries, which are below the diagonal, and ones on
 *  it. */
void sparse_solve(const struct sparse *lower, const double *rhs, double *y_out);

#endif
