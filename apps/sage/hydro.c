/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Heun's method: a full step with the fluxes of the old state, then the mean of these
 * fluxes and those of the result. What crosses a face in half a step is one whole
 * number in each stage, so the mean is exact. Three exchanges a stage: gather states,
 * gather slopes, scatter changes. Every rank runs it.
 */
#include "apps/sage/hydro.h"

#include <float.h>
#include <math.h>
#include <mpi.h>
#include <string.h>

#include "apps/sage/flux.h"
#include "apps/sage/slopes.h"

static double reduced(double value, MPI_Op operation)
{
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, operation, MPI_COMM_WORLD);
    return value;
}

bool hydro_is_valid(const struct simulation *simulation)
{
    const struct mesh *mesh = &simulation->mesh;
    double(*primitive)[N_PRIMITIVE] =
        simulation->work.primitive + simulation->halo.first_owned;
    double density = DBL_MAX;
    double pressure = DBL_MAX;
    int64_t largest = 0;

    for (int cell = 0; cell < mesh->n_cells; cell++) {
        /* The comparisons also refuse what is not a number. */
        density =
            primitive[cell][DENSITY] > density ? density : primitive[cell][DENSITY];
        pressure =
            primitive[cell][PRESSURE] > pressure ? pressure : primitive[cell][PRESSURE];
        for (int n = 0; n < N_CONSERVED; n++) {
            int64_t content = mesh->state[cell][n];
            content = content < 0 ? -content : content;
            largest = content > largest ? content : largest;
        }
    }
    /* A pressure that is no number comes from a density of 0, which is refused. */
    pressure = isnan(pressure) ? -1 : pressure;
    density = reduced(density, MPI_MIN);
    pressure = reduced(pressure, MPI_MIN);
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    return density > 0 && pressure > 0 && largest <= UNITS_MAX;
}

double hydro_rate(const struct simulation *simulation)
{
    const struct mesh *mesh = &simulation->mesh;
    double largest = 0;

    for (int cell = 0; cell < mesh->n_cells; cell++) {
        const double *state =
            simulation->work.primitive[simulation->halo.first_owned + cell];
        double sound = sqrt(simulation->units.gamma * state[PRESSURE] / state[DENSITY]);
        double speed = fabs(state[VELOCITY]) + fabs(state[VELOCITY + 1]) +
                       fabs(state[VELOCITY + 2]) + N_AXES * sound;
        double rate = speed / simulation->units.edge[forest_level(mesh->id[cell])];
        largest = rate > largest ? rate : largest;
    }
    return reduced(largest, MPI_MAX);
}

/* Compute what enters each own cell within half a step. */
static int64_t run_stage(struct simulation *simulation, double half_step)
{
    struct halo *halo = &simulation->halo;
    struct work *work = &simulation->work;
    int64_t n_fallbacks;

    halo_gather(halo, work->primitive, N_PRIMITIVE, MPI_DOUBLE);
    slopes_compute(simulation);
    halo_gather(halo, work->slope, N_AXES * N_PRIMITIVE, MPI_DOUBLE);
    memset(work->change, 0, (size_t)halo->n_local * sizeof(*work->change));
    n_fallbacks = flux_add_changes(simulation, half_step);
    halo_scatter(halo, *work->change, N_CONSERVED);
    MPI_Allreduce(MPI_IN_PLACE, &n_fallbacks, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return n_fallbacks;
}

/* From the old state to that after a full step with the first stage's fluxes. */
static void apply_first_stage(struct simulation *simulation)
{
    struct work *work = &simulation->work;
    int64_t(*change)[N_CONSERVED] = work->change;

    for (int cell = 0; cell < simulation->mesh.n_cells; cell++) {
        for (int n = 0; n < N_CONSERVED; n++) {
            simulation->mesh.state[cell][n] +=
                2 * change[simulation->halo.first_owned + cell][n];
        }
    }
    work->change = work->earlier_change;
    work->earlier_change = change;
}

/* From there to the old state and half a step with each stage's fluxes. */
static void apply_second_stage(struct simulation *simulation)
{
    const struct work *work = &simulation->work;

    for (int own = 0; own < simulation->mesh.n_cells; own++) {
        int cell = simulation->halo.first_owned + own;
        for (int n = 0; n < N_CONSERVED; n++) {
            simulation->mesh.state[own][n] +=
                work->change[cell][n] - work->earlier_change[cell][n];
        }
    }
}

bool hydro_advance(struct simulation *simulation, double time_step,
                   int64_t *n_fallbacks)
{
    *n_fallbacks += run_stage(simulation, 0.5 * time_step);
    apply_first_stage(simulation);
    simulation_update_primitive(simulation);
    if (!hydro_is_valid(simulation)) {
        return false;
    }
    *n_fallbacks += run_stage(simulation, 0.5 * time_step);
    apply_second_stage(simulation);
    simulation_update_primitive(simulation);
    return true;
}
