/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Heun's method: a full step with the fluxes of the old state, then the mean of these
 * fluxes and those of the result. What crosses a face in half a step is one whole
 * number in each stage, so the mean is exact. Three exchanges a stage: gather states,
 * gather slopes, scatter changes. Each is hidden: states travel while the own cells are
 * checked and totalled, slopes and changes while fluxes between own cells are computed.
 * Every rank runs it.
 */
#include "apps/sage/hydro.h"

#include <math.h>
#include <mpi.h>
#include <string.h>

#include "apps/sage/flux.h"
#include "apps/sage/reduce.h"
#include "apps/sage/slopes.h"

/* The comparisons also refuse what is not a number. */
static bool is_cell_valid(const double primitive[N_PRIMITIVE],
                          const int64_t state[N_CONSERVED])
{
    int64_t largest = 0;

    for (int n = 0; n < N_CONSERVED; n++) {
        int64_t content = state[n] < 0 ? -state[n] : state[n];
        largest = content > largest ? content : largest;
    }
    return primitive[DENSITY] > 0 && primitive[PRESSURE] > 0 && largest <= UNITS_MAX;
}

bool hydro_is_valid(const struct simulation *simulation)
{
    const struct mesh *mesh = &simulation->mesh;
    double(*primitive)[N_PRIMITIVE] =
        simulation->work.primitive + simulation->halo.first_owned;
    int is_valid = 1;

    for (int cell = 0; cell < mesh->n_cells; cell++) {
        is_valid &= is_cell_valid(primitive[cell], mesh->state[cell]);
    }
    MPI_Allreduce(MPI_IN_PLACE, &is_valid, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return is_valid != 0;
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
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return largest;
}

/* Compute what enters each own cell within half a step; returns the fallbacks. */
static int64_t run_stage(struct simulation *simulation, double half_step)
{
    struct halo *halo = &simulation->halo;
    struct work *work = &simulation->work;
    int64_t n_fallbacks;

    halo_gather_end(halo);
    slopes_compute(simulation);
    halo_gather_begin(halo, work->slope, N_AXES * N_PRIMITIVE, MPI_DOUBLE);
    memset(work->change, 0, (size_t)halo->n_local * sizeof(*work->change));
    n_fallbacks = flux_add_inner(simulation, 0, half_step);
    n_fallbacks += flux_add_inner(simulation, 1, half_step);
    halo_gather_end(halo);
    n_fallbacks += flux_add_border(simulation, half_step);
    halo_scatter_begin(halo, *work->change, N_CONSERVED);
    n_fallbacks += flux_add_inner(simulation, 2, half_step);
    halo_scatter_end(halo, *work->change, N_CONSERVED);
    return n_fallbacks;
}

/* The fallbacks of a stage: of all ranks on the first, if each number is reduced by
 * itself where it is known, else those of this rank. */
static int64_t count_fallbacks(const struct simulation *simulation, int64_t n_fallbacks)
{
    if (simulation->input->reductions == REDUCTIONS_COMBINED) {
        return n_fallbacks;
    }
    reduce_all(simulation->input, &n_fallbacks, 1, MPI_INT64_T, MPI_SUM);
    return simulation->mesh.rank == 0 ? n_fallbacks : 0;
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
    *n_fallbacks += count_fallbacks(simulation, run_stage(simulation, 0.5 * time_step));
    apply_first_stage(simulation);
    simulation_share_primitive(simulation);
    if (!hydro_is_valid(simulation)) {
        return false;
    }
    *n_fallbacks += count_fallbacks(simulation, run_stage(simulation, 0.5 * time_step));
    apply_second_stage(simulation);
    return true;
}
