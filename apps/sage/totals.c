/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums without rounding, so without order: whole numbers, or exact sums of doubles.
 * Every rank runs it; the first part after every cycle.
 */
#include "apps/sage/totals.h"

#include <float.h>
#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <string.h>

#include "apps/common/exact_sum.h"
#include "apps/sage/reduce.h"
#include "apps/sage/riemann.h"

static double reduced_double(double value, MPI_Op operation)
{
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, operation, MPI_COMM_WORLD);
    return value;
}

static int64_t reduced_count(int64_t value, MPI_Op operation)
{
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT64_T, operation, MPI_COMM_WORLD);
    return value;
}

static const double *primitive_of(const struct simulation *simulation, int own)
{
    return simulation->work.primitive[simulation->halo.first_owned + own];
}

static int level_of(const struct simulation *simulation, int own)
{
    return forest_level(simulation->mesh.id[own]);
}

static void collect_conserved(struct totals *totals,
                              const struct simulation *simulation)
{
    struct wide_sum sums[N_CONSERVED] = {{0, 0}};

    for (int cell = 0; cell < simulation->mesh.n_cells; cell++) {
        for (int n = 0; n < N_CONSERVED; n++) {
            wide_sum_add(&sums[n], simulation->mesh.state[cell][n]);
        }
    }
    for (int axis = 0; axis < N_AXES; axis++) {
        sums[MOMENTUM + axis].high -= simulation->impulse[axis].high;
        sums[MOMENTUM + axis].low -= simulation->impulse[axis].low;
    }
    wide_sum_allreduce(simulation->input, sums, N_CONSERVED);
    memcpy(totals->conserved, sums, sizeof(sums));
}

static void collect_extremes(struct totals *totals, const struct simulation *simulation)
{
    double density = 0, pressure = 0, speed = 0, mach = 0;
    double largest[4];

    for (int cell = 0; cell < simulation->mesh.n_cells; cell++) {
        const double *state = primitive_of(simulation, cell);
        const double *velocity = &state[VELOCITY];
        double squared = velocity[0] * velocity[0] + velocity[1] * velocity[1] +
                         velocity[2] * velocity[2];
        double sound_squared =
            simulation->units.gamma * state[PRESSURE] / state[DENSITY];
        density = fmax(density, state[DENSITY]);
        pressure = fmax(pressure, state[PRESSURE]);
        speed = fmax(speed, squared);
        mach = fmax(mach, squared / sound_squared);
    }
    largest[0] = density;
    largest[1] = pressure;
    largest[2] = speed;
    largest[3] = mach;
    reduce_all(simulation->input, largest, 4, MPI_DOUBLE, MPI_MAX);
    totals->density_max = largest[0];
    totals->pressure_max = largest[1];
    totals->speed_max = sqrt(largest[2]);
    totals->mach_max = sqrt(largest[3]);
}

void totals_collect(struct totals *totals_out, const struct simulation *simulation)
{
    collect_conserved(totals_out, simulation);
    collect_extremes(totals_out, simulation);
    totals_out->n_cells = reduced_count(simulation->mesh.n_cells, MPI_SUM);
    totals_out->n_cells_most = reduced_count(simulation->mesh.n_cells, MPI_MAX);
}

/* Names and contents of a cell, mixed into 64 bits; every bit counts, and the order. */
static uint64_t fingerprint(uint64_t id, const int64_t state[N_CONSERVED])
{
    uint64_t bits = id;

    for (int n = 0; n < N_CONSERVED; n++) {
        bits = (bits ^ (uint64_t)state[n]) * UINT64_C(0xff51afd7ed558ccd);
        bits ^= bits >> 33;
        bits *= UINT64_C(0xc4ceb9fe1a85ec53);
        bits ^= bits >> 29;
    }
    return bits;
}

static void collect_mesh(struct final_totals *totals,
                         const struct simulation *simulation)
{
    const struct mesh *mesh = &simulation->mesh;
    const struct faces *faces = &simulation->faces;

    for (int cell = 0; cell < mesh->n_cells; cell++) {
        int level = level_of(simulation, cell);
        totals->n_at_level[level]++;
        totals->n_covered += (int64_t)forest_n_keys(&mesh->forest, level);
        totals->checksum += fingerprint(mesh->id[cell], mesh->state[cell]);
    }
    for (int axis = 0; axis < N_AXES; axis++) {
        for (int f = faces->first_owned[axis]; f < faces->n[axis]; f++) {
            const struct face *face = &faces->list[axis][f];
            int difference = face->level_low - face->level_high;
            totals->n_unbalanced += difference < -1 || difference > 1;
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, totals->n_at_level, FOREST_MAX_LEVEL + 1, MPI_INT64_T,
                  MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &totals->checksum, 1, MPI_UINT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    totals->n_covered = reduced_count(totals->n_covered, MPI_SUM);
    totals->n_unbalanced = reduced_count(totals->n_unbalanced, MPI_SUM);
}

static double total_of(struct exact_sum *sum)
{
    exact_sum_allreduce(sum, 1);
    return exact_sum_value(sum);
}

/* Whether the gas at both walls is still what it was at first. */
static bool is_tube_undisturbed(const struct riemann *tube, const struct input *input,
                                double time)
{
    double to_end = input->cells[0] * input->cell_width - input->interface;

    return riemann_density(tube, -input->interface / time) == input->inner_density &&
           riemann_density(tube, to_end / time) == input->outer_density;
}

static double density_error(const struct simulation *simulation, double time)
{
    const struct input *input = simulation->input;
    const struct forest *forest = &simulation->mesh.forest;
    double finest = simulation->units.edge[forest->max_level];
    struct exact_sum error, mass;
    struct riemann tube;

    if (input->problem != PROBLEM_SHOCK_TUBE || input->conductivity > 0 || time <= 0) {
        return -1;
    }
    riemann_solve(&tube, input);
    if (!is_tube_undisturbed(&tube, input, time)) {
        return -1;
    }
    exact_sum_init(&error);
    exact_sum_init(&mass);
    for (int cell = 0; cell < simulation->mesh.n_cells; cell++) {
        int level = level_of(simulation, cell);
        double density = primitive_of(simulation, cell)[DENSITY];
        int position[N_AXES];
        double x, exact;
        forest_position(forest, simulation->mesh.id[cell], position);
        x = (position[0] + 0.5 * forest_edge(forest, level)) * finest;
        exact = riemann_density(&tube, (x - input->interface) / time);
        exact_sum_add(&error, fabs(density - exact) * simulation->units.volume[level]);
        exact_sum_add(&mass, exact * simulation->units.volume[level]);
    }
    return total_of(&error) / total_of(&mass);
}

void totals_collect_final(struct final_totals *totals_out,
                          const struct simulation *simulation, double time)
{
    double density = DBL_MAX;
    double pressure = DBL_MAX;

    memset(totals_out, 0, sizeof(*totals_out));
    collect_mesh(totals_out, simulation);
    for (int cell = 0; cell < simulation->mesh.n_cells; cell++) {
        density = fmin(density, primitive_of(simulation, cell)[DENSITY]);
        pressure = fmin(pressure, primitive_of(simulation, cell)[PRESSURE]);
    }
    totals_out->density_min = reduced_double(density, MPI_MIN);
    totals_out->pressure_min = reduced_double(pressure, MPI_MIN);
    totals_out->density_error = density_error(simulation, time);
}

double totals_entropy(const struct simulation *simulation)
{
    double gamma = simulation->units.gamma;
    struct exact_sum sum;

    exact_sum_init(&sum);
    for (int cell = 0; cell < simulation->mesh.n_cells; cell++) {
        const double *state = primitive_of(simulation, cell);
        double volume = simulation->units.volume[level_of(simulation, cell)];
        exact_sum_add(&sum, volume * state[DENSITY] *
                                (log(state[PRESSURE]) - gamma * log(state[DENSITY])));
    }
    return total_of(&sum);
}
