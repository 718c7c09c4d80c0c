/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The banded system: its coefficients, and the serial solution that all others are
 * compared with.
 */
#include "apps/channel/banded.h"

#include <errno.h>
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "apps/channel/agree.h"

enum kind { RHS, NEAR, FAR };

/** A number from 0 to 1 that follows from another one. */
static double spread(uint64_t number)
{
    uint64_t bits = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);

    bits = (bits ^ bits >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ bits >> 27) * UINT64_C(0x94d049bb133111eb);
    bits ^= bits >> 31;
    return (double)(bits >> 11) * 0x1p-53;
}

/** A coefficient of value i. Near and far ones are those of an incomplete factor:
 *  negative, and of a magnitude that keeps the solution bounded. */
static double coefficient(enum kind kind, size_t i)
{
    double value = spread((uint64_t)i * 4 + kind);

    return kind == RHS ? value : -0.25 - value / 4;
}

int banded_init(struct banded *banded, int rank, int size, size_t n_steps)
{
    *banded = (struct banded){
        .rank = rank,
        .size = size,
        .left = (rank + size - 1) % size,
        .right = (rank + 1) % size,
        .n_steps = n_steps,
        .rhs = agree_array(n_steps, sizeof(double)),
        .near = agree_array(n_steps, sizeof(double)),
        .far = agree_array(n_steps, sizeof(double)),
        .y = agree_array(n_steps, sizeof(double)),
    };
    if (banded->rhs == NULL || banded->near == NULL || banded->far == NULL ||
        banded->y == NULL) {
        return -ENOMEM;
    }
    for (size_t step = 0; step < n_steps; step++) {
        size_t line = step % (size_t)size;
        size_t i = line * n_steps + step - line + (size_t)rank;

        banded->rhs[step] = coefficient(RHS, i);
        banded->near[step] = coefficient(NEAR, i);
        banded->far[step] = coefficient(FAR, i);
    }
    return 0;
}

void banded_fini(struct banded *banded)
{
    free(banded->rhs);
    free(banded->near);
    free(banded->far);
    free(banded->y);
    *banded = (struct banded){0};
}

void banded_clear(const struct banded *banded)
{
    for (size_t step = 0; step < banded->n_steps; step++) {
        banded->y[step] = NAN;
    }
}

/** The whole solution, by one process. */
static void solve_alone(double *y, size_t n_lines, size_t n_columns)
{
    for (size_t i = 0; i < n_lines * n_columns; i++) {
        double left = i % n_columns == 0 ? 0 : y[i - 1] * coefficient(NEAR, i - 1);
        double above =
            i < n_columns ? 0 : y[i - n_columns] * coefficient(FAR, i - n_columns);

        y[i] = coefficient(RHS, i) - left - above;
    }
}

/** Compare all parts, one rank's after the other's, with the serial solution. */
static bool is_right(const double *parts, const double *y, size_t size, size_t n_steps)
{
    for (size_t i = 0; i < size * n_steps; i++) {
        size_t rank = i % size;
        size_t line = i / n_steps;
        size_t step = i % n_steps - rank + line;

        if (memcmp(&parts[rank * n_steps + step], &y[i], sizeof(*y)) != 0) {
            return false;
        }
    }
    return true;
}

int banded_is_right(const struct banded *banded)
{
    bool is_root = banded->rank == 0;
    size_t n = banded->n_steps * (size_t)banded->size;
    double *parts = agree_array(is_root ? n : 0, sizeof(double));
    double *y = agree_array(is_root ? n : 0, sizeof(double));
    int result = parts == NULL || y == NULL ? -ENOMEM : 0;

    result = agree_least(result);
    if (result == 0) {
        MPI_Gather(banded->y, (int)banded->n_steps, MPI_DOUBLE, parts,
                   (int)banded->n_steps, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        if (is_root) {
            solve_alone(y, (size_t)banded->size, banded->n_steps);
            result = is_right(parts, y, (size_t)banded->size, banded->n_steps);
        }
        MPI_Bcast(&result, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    free(parts);
    free(y);
    return result;
}
