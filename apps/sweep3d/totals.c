/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums over all cells and outer faces, without rounding (exact_sum.h), so that their
 * order does not matter. Every rank runs it once, after the iteration.
 */
#include "apps/sweep3d/totals.h"

#include <float.h>
#include <mpi.h>
#include <string.h>

#include "apps/common/exact_sum.h"
#include "apps/sweep3d/source.h"

/* The bits of a value and its place, mixed (the finalizer of SplitMix64). */
static uint64_t mix(uint64_t place, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    bits += (place + 1) * UINT64_C(0x9e3779b97f4a7c15);
    bits = (bits ^ bits >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ bits >> 27) * UINT64_C(0x94d049bb133111eb);
    return bits ^ bits >> 31;
}

static double reduced(struct exact_sum *sum)
{
    exact_sum_allreduce(sum, 1);
    return exact_sum_value(sum);
}

static double sum_of_array(const double *values, size_t n, double factor)
{
    struct exact_sum sum;

    exact_sum_init(&sum);
    for (size_t v = 0; v < n; v++) {
        exact_sum_add(&sum, values[v] * factor);
    }
    return reduced(&sum);
}

/* Every rank knows the fixed source of all cells: nothing to exchange. */
static double sum_of_source(const struct input *input)
{
    double n_cells = (double)(input->i2 - input->i1 + 1) * (input->j2 - input->j1 + 1) *
                     (input->k2 - input->k1 + 1);

    return n_cells * input->src * input->dx * input->dy * input->dz;
}

static void collect_leakage(struct totals *totals, const struct input *input,
                            const struct fields *fields)
{
    const double area[N_FACES] = {
        [FACE_WEST] = input->dy * input->dz,   [FACE_EAST] = input->dy * input->dz,
        [FACE_SOUTH] = input->dx * input->dz,  [FACE_NORTH] = input->dx * input->dz,
        [FACE_BOTTOM] = input->dx * input->dy, [FACE_TOP] = input->dx * input->dy,
    };

    totals->leakage_all = 0;
    for (int face = 0; face < N_FACES; face++) {
        totals->leakage[face] = sum_of_array(
            fields->leakage[face], fields_face_cells(fields, face), area[face]);
        totals->leakage_all += totals->leakage[face];
    }
}

static void collect_flux(struct totals *totals,
                         const struct decomposition *decomposition,
                         const struct fields *fields)
{
    const struct axis *axis_i = &decomposition->i;
    const struct axis *axis_j = &decomposition->j;
    /* The largest, the negative of the smallest, and the middle where it is at home. */
    double extremes[3] = {-DBL_MAX, -DBL_MAX, -DBL_MAX};
    uint64_t hash = 0;
    size_t cell = 0;

    for (int k = 0; k < fields->n_k; k++) {
        for (int j = axis_j->first; j < axis_j->first + fields->n_j; j++) {
            for (int i = axis_i->first; i < axis_i->first + fields->n_i; i++, cell++) {
                double flux = fields->flux[0][cell];
                hash += mix(((uint64_t)k * axis_j->n_cells + j) * axis_i->n_cells + i,
                            flux);
                extremes[0] = flux > extremes[0] ? flux : extremes[0];
                extremes[1] = -flux > extremes[1] ? -flux : extremes[1];
                if (i == axis_i->n_cells / 2 && j == axis_j->n_cells / 2 &&
                    k == fields->n_k / 2) {
                    extremes[2] = flux;
                }
            }
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, extremes, 3, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &hash, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    totals->flux_max = extremes[0];
    totals->flux_min = -extremes[1];
    totals->flux_centre = extremes[2];
    totals->flux_hash = hash;
}

void totals_collect(struct totals *totals_out, const struct input *input,
                    const struct decomposition *decomposition,
                    const struct fields *fields)
{
    double volume = input->dx * input->dy * input->dz;
    struct totals totals;
    double gained;

    totals.source = sum_of_source(input);
    totals.scattered =
        input->sigs * sum_of_array(fields->old_flux, fields->n_cells, volume);
    totals.flux_integral = sum_of_array(fields->flux[0], fields->n_cells, volume);
    totals.collided = input->sigt * totals.flux_integral;
    totals.absorbed = (input->sigt - input->sigs) * totals.flux_integral;
    collect_leakage(&totals, input, fields);
    collect_flux(&totals, decomposition, fields);
    gained = totals.source + totals.scattered;
    totals.balance = (gained - totals.collided - totals.leakage_all) / gained;
    totals.steady_state =
        (totals.source - totals.absorbed - totals.leakage_all) / totals.source;
    *totals_out = totals;
}
