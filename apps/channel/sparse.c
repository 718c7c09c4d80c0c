/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sparse matrices by rows. Run by rank 0 alone.
 */
#include "apps/channel/sparse.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "apps/common/message.h"

int sparse_init(struct sparse *matrix, size_t n_rows, size_t n_entries)
{
    *matrix = (struct sparse){
        .n_rows = n_rows,
        .starts = calloc(n_rows + 1, sizeof(*matrix->starts)),
        .columns = malloc((n_entries + 1) * sizeof(*matrix->columns)),
        .values = malloc((n_entries + 1) * sizeof(*matrix->values)),
    };
    if (matrix->starts == NULL || matrix->columns == NULL || matrix->values == NULL) {
        sparse_fini(matrix);
        return -ENOMEM;
    }
    return 0;
}

void sparse_fini(struct sparse *matrix)
{
    free(matrix->starts);
    free(matrix->columns);
    free(matrix->values);
    *matrix = (struct sparse){0};
}

int sparse_make_poisson(const long points[3], struct sparse *matrix_out)
{
    const long strides[3] = {1, points[0], points[0] * points[1]};
    size_t n_rows = (size_t)(strides[2] * points[2]);
    int n_axes = (points[0] > 1) + (points[1] > 1) + (points[2] > 1);
    size_t n = 0;
    int rc = sparse_init(matrix_out, n_rows, n_rows * 7);

    if (rc != 0) {
        return rc;
    }
    for (size_t i = 0; i < n_rows; i++) {
        /* From the neighbour with the least number to that with the highest. */
        for (int place = -3; place <= 3; place++) {
            int axis = (place < 0 ? -place : place) - 1;
            long at = place == 0 ? 0 : (long)i / strides[axis] % points[axis];

            if (place < 0 ? at == 0 : place > 0 && at == points[axis] - 1) {
                continue;
            }
            matrix_out->values[n] = place == 0 ? 2.0 * n_axes : -1.0;
            matrix_out->columns[n++] =
                (uint32_t)((long)i + (place == 0  ? 0
                                      : place < 0 ? -strides[axis]
                                                  : strides[axis]));
        }
        matrix_out->starts[i + 1] = n;
    }
    return 0;
}

/** The entry on the diagonal of a row. @return the end of the row if there is none */
static size_t find_diagonal(const struct sparse *matrix, size_t row)
{
    size_t e = matrix->starts[row];

    while (e < matrix->starts[row + 1] && matrix->columns[e] < row) {
        e++;
    }
    return e < matrix->starts[row + 1] && matrix->columns[e] == row
               ? e
               : matrix->starts[row + 1];
}

/** Whether one can divide by a row's diagonal entry; tells if not. */
static bool is_pivot(const struct sparse *matrix, size_t row, size_t diagonal,
                     char *message)
{
    if (diagonal == matrix->starts[row + 1]) {
        message_set(message, "row %zu has no entry on the diagonal, which is needed",
                    row + 1);
        return false;
    }
    if (matrix->values[diagonal] == 0 || !isfinite(matrix->values[diagonal])) {
        message_set(message, "the pivot of row %zu is %g; it must be finite and not 0",
                    row + 1, matrix->values[diagonal]);
        return false;
    }
    return true;
}

/** Subtract a row of U from what is behind the diagonal of L's entry e. @param places
 *  of the row's columns, plus 1; 0: there is none */
static void eliminate(struct sparse *matrix, size_t e, size_t diagonal,
                      const size_t *places)
{
    size_t other = matrix->columns[e];

    matrix->values[e] /= matrix->values[diagonal];
    for (size_t u = diagonal + 1; u < matrix->starts[other + 1]; u++) {
        size_t place = places[matrix->columns[u]];

        if (place != 0) {
            matrix->values[place - 1] -= matrix->values[e] * matrix->values[u];
        }
    }
}

/** Refuse what an overflow has left. */
static int check_finite(const struct sparse *matrix, char *message)
{
    for (size_t e = 0; e < matrix->starts[matrix->n_rows]; e++) {
        if (!isfinite(matrix->values[e])) {
            message_set(message, "an entry of the factor is not finite");
            return -EINVAL;
        }
    }
    return 0;
}

int sparse_factorize(struct sparse *matrix, char *message)
{
    size_t *diagonals = malloc((matrix->n_rows + 1) * sizeof(*diagonals));
    size_t *places = calloc(matrix->n_rows + 1, sizeof(*places));
    int rc = diagonals == NULL || places == NULL ? -ENOMEM : 0;

    if (rc != 0) {
        message_set(message, "out of memory for the factors");
    }
    for (size_t row = 0; rc == 0 && row < matrix->n_rows; row++) {
        size_t begin = matrix->starts[row], end = matrix->starts[row + 1];

        for (size_t e = begin; e < end; e++) {
            places[matrix->columns[e]] = e + 1;
        }
        for (size_t e = begin; e < end && matrix->columns[e] < row; e++) {
            eliminate(matrix, e, diagonals[matrix->columns[e]], places);
        }
        for (size_t e = begin; e < end; e++) {
            places[matrix->columns[e]] = 0;
        }
        diagonals[row] = find_diagonal(matrix, row);
        rc = is_pivot(matrix, row, diagonals[row], message) ? 0 : -EINVAL;
    }
    free(diagonals);
    free(places);
    return rc == 0 ? check_finite(matrix, message) : rc;
}

int sparse_scale(struct sparse *matrix, char *message)
{
    for (size_t row = 0; row < matrix->n_rows; row++) {
        size_t diagonal = find_diagonal(matrix, row);
        double pivot;

        if (!is_pivot(matrix, row, diagonal, message)) {
            return -EINVAL;
        }
        pivot = matrix->values[diagonal];
        for (size_t e = matrix->starts[row]; e < matrix->starts[row + 1]; e++) {
            matrix->values[e] /= pivot;
        }
    }
    return check_finite(matrix, message);
}

void sparse_keep_lower(struct sparse *matrix)
{
    size_t n = 0, e = 0;

    for (size_t row = 0; row < matrix->n_rows; row++) {
        for (; e < matrix->starts[row + 1]; e++) {
            if (matrix->columns[e] < row) {
                matrix->columns[n] = matrix->columns[e];
                matrix->values[n++] = matrix->values[e];
            }
        }
        matrix->starts[row + 1] = n;
    }
}

uint32_t sparse_levels(const struct sparse *lower, uint32_t *levels_out)
{
    uint32_t n_levels = 0;

    for (size_t row = 0; row < lower->n_rows; row++) {
        uint32_t level = 0;

        for (size_t e = lower->starts[row]; e < lower->starts[row + 1]; e++) {
            uint32_t below = levels_out[lower->columns[e]];

            level = below + 1 > level ? below + 1 : level;
        }
        levels_out[row] = level;
        n_levels = level + 1 > n_levels ? level + 1 : n_levels;
    }
    return n_levels;
}

void sparse_solve(const struct sparse *lower, const double *rhs, double *y_out)
{
    for (size_t row = 0; row < lower->n_rows; row++) {
        double y = rhs[row];

        for (size_t e = lower->starts[row]; e < lower->starts[row + 1]; e++) {
            y -= lower->values[e] * y_out[lower->columns[e]];
        }
        y_out[row] = y;
    }
}
