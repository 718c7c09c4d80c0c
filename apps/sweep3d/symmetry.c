/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mirrors in k within each process, whose cells cover all of k; in i and j on rank 0,
 * plane by plane. The octants are summed in one fixed order, so mirrored cells differ
 * by rounding. Every rank runs it once, after the iteration.
 */
#include "apps/sweep3d/symmetry.h"

#include <math.h>
#include <mpi.h>
#include <stdbool.h>

static double larger(double a, double b)
{
    return b > a ? b : a;
}

static double measure_k(const struct fields *fields)
{
    size_t n = (size_t)fields->n_i * fields->n_j;
    double error = 0;

    for (int k = 0; k < fields->n_k / 2; k++) {
        const double *near = fields->flux[0] + k * n;
        const double *far = fields->flux[0] + (fields->n_k - 1 - k) * n;
        for (size_t cell = 0; cell < n; cell++) {
            error = larger(error, fabs(near[cell] - far[cell]));
        }
    }
    return error;
}

static void measure_plane(double error[2], const double *plane, int n_i, int n_j)
{
    for (int j = 0; j < n_j; j++) {
        const double *line = plane + (size_t)j * n_i;
        const double *mirror = plane + (size_t)(n_j - 1 - j) * n_i;
        for (int i = 0; i < n_i; i++) {
            error[0] = larger(error[0], fabs(line[i] - line[n_i - 1 - i]));
            error[1] = larger(error[1], fabs(line[i] - mirror[i]));
        }
    }
}

static double largest_flux(const struct fields *fields)
{
    double largest = 0;

    for (size_t cell = 0; cell < fields->n_cells; cell++) {
        largest = larger(largest, fields->flux[0][cell]);
    }
    return largest;
}

void symmetry_measure(double error_out[3], const struct input *input,
                      const struct fields *fields, struct flux_plane *plane)
{
    const bool is_symmetric[3] = {input->i1 + input->i2 == input->it + 1,
                                  input->j1 + input->j2 == input->jt + 1,
                                  input->k1 + input->k2 == input->kt + 1};
    /* The errors along i, j and k, and the largest flux. */
    double largest[4] = {0, 0, measure_k(fields), largest_flux(fields)};

    for (int k = 0; (is_symmetric[0] || is_symmetric[1]) && k < fields->n_k; k++) {
        const double *flux = flux_plane_gather(plane, fields, k);
        if (flux != NULL) {
            measure_plane(largest, flux, input->it, input->jt);
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, largest, 4, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    for (int axis = 0; axis < 3; axis++) {
        error_out[axis] =
            is_symmetric[axis] ? largest[axis] / largest[3] : SYMMETRY_NONE;
    }
}
