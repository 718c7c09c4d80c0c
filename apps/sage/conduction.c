/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Backward Euler for C dT/dt = div(k grad T) with conjugate gradients, preconditioned
 * by the diagonal. One gather and two dot products an iteration. The dot products are
 * exact sums of rounded products, and a row of the matrix is summed in the global order
 * of faces, so every number of ranks makes the same iterations.
 *
 * Whatever the solver has reached, heat moves in whole units from cell to cell: energy
 * is conserved by construction. Every rank runs it.
 */
#include "apps/sage/conduction.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/exact_sum.h"
#include "apps/sage/memory.h"

struct solver {
    struct simulation *simulation;
    double time_step;
    /* For each local cell, with meaning for own cells only: heat capacity, diagonal of
     * the matrix, residual, product. */
    double *capacity, *diagonal, *residual, *product;
    /* With meaning for ghosts as well: temperature, search direction. */
    double *temperature, *direction;
};

/* Heat that flows across a face within the step for each degree of difference. */
static double conductance(const struct solver *solver, const struct face *face)
{
    const struct units *units = &solver->simulation->units;
    int finer = face->level_low > face->level_high ? face->level_low : face->level_high;
    double distance =
        0.5 * (units->edge[face->level_low] + units->edge[face->level_high]);

    return solver->simulation->input->conductivity * solver->time_step *
           units->area[finer] / distance;
}

/* For each own cell the heat that leaves it, given everybody's temperature. All arrays
 * are local; what is written to the ghosts has no meaning. */
static void heat_loss(const struct solver *solver, const double *temperature,
                      double *loss_out)
{
    const struct faces *faces = &solver->simulation->faces;

    memset(loss_out, 0, (size_t)solver->simulation->halo.n_local * sizeof(*loss_out));
    for (int axis = 0; axis < N_AXES; axis++) {
        for (int f = 0; f < faces->n[axis]; f++) {
            const struct face *face = &faces->list[axis][f];
            double heat = conductance(solver, face) *
                          (temperature[face->low] - temperature[face->high]);
            loss_out[face->low] += heat;
            loss_out[face->high] -= heat;
        }
    }
}

static void set_matrix(struct solver *solver)
{
    const struct simulation *simulation = solver->simulation;
    const struct halo *halo = &simulation->halo;
    const struct faces *faces = &simulation->faces;
    double per_heat = 1 / (simulation->units.gamma - 1);

    for (int own = 0; own < halo->n_owned; own++) {
        int cell = halo->first_owned + own;
        const double *state = simulation->work.primitive[cell];
        double volume = simulation->units.volume[forest_level(halo->id[cell])];
        solver->temperature[cell] = state[PRESSURE] / state[DENSITY];
        solver->capacity[cell] = state[DENSITY] * volume * per_heat;
        solver->diagonal[cell] = solver->capacity[cell];
    }
    for (int axis = 0; axis < N_AXES; axis++) {
        for (int f = 0; f < faces->n[axis]; f++) {
            const struct face *face = &faces->list[axis][f];
            double value = conductance(solver, face);
            solver->diagonal[face->low] += value;
            solver->diagonal[face->high] += value;
        }
    }
}

/* Sum over all cells of all ranks of a * b, or of a * a / b. */
static double dot(const struct solver *solver, const double *a, const double *b,
                  bool is_divided)
{
    const struct halo *halo = &solver->simulation->halo;
    struct exact_sum sum;

    exact_sum_init(&sum);
    for (int own = 0; own < halo->n_owned; own++) {
        int cell = halo->first_owned + own;
        exact_sum_add(&sum,
                      is_divided ? a[cell] * (a[cell] / b[cell]) : a[cell] * b[cell]);
    }
    exact_sum_allreduce(&sum, 1);
    return exact_sum_value(&sum);
}

/* One iteration; returns the square of the new residual, preconditioned. */
static double iterate(struct solver *solver, double residual_squared)
{
    struct halo *halo = &solver->simulation->halo;
    double step, next, ratio;

    halo_gather(halo, solver->direction, 1, MPI_DOUBLE);
    heat_loss(solver, solver->direction, solver->product);
    for (int own = 0; own < halo->n_owned; own++) {
        int cell = halo->first_owned + own;
        solver->product[cell] += solver->capacity[cell] * solver->direction[cell];
    }
    step = residual_squared / dot(solver, solver->direction, solver->product, false);
    for (int own = 0; own < halo->n_owned; own++) {
        int cell = halo->first_owned + own;
        solver->temperature[cell] += step * solver->direction[cell];
        solver->residual[cell] -= step * solver->product[cell];
    }
    next = dot(solver, solver->residual, solver->diagonal, true);
    ratio = next / residual_squared;
    for (int own = 0; own < halo->n_owned; own++) {
        int cell = halo->first_owned + own;
        solver->direction[cell] = solver->residual[cell] / solver->diagonal[cell] +
                                  ratio * solver->direction[cell];
    }
    return next;
}

/* From the old temperature to the new one. */
static bool solve_temperature(struct solver *solver, int64_t *n_iterations)
{
    const struct input *input = solver->simulation->input;
    struct halo *halo = &solver->simulation->halo;
    double residual_squared, wanted;
    int iteration = 0;

    halo_gather(halo, solver->temperature, 1, MPI_DOUBLE);
    heat_loss(solver, solver->temperature, solver->residual);
    for (int own = 0; own < halo->n_owned; own++) {
        int cell = halo->first_owned + own;
        solver->residual[cell] = -solver->residual[cell];
        solver->direction[cell] = solver->residual[cell] / solver->diagonal[cell];
    }
    residual_squared = dot(solver, solver->residual, solver->diagonal, true);
    wanted = residual_squared * input->cg_tolerance * input->cg_tolerance;
    while (residual_squared > wanted && iteration < input->cg_iterations) {
        residual_squared = iterate(solver, residual_squared);
        iteration++;
    }
    *n_iterations += iteration;
    return residual_squared <= wanted;
}

/* Move heat across the faces of which this rank has the low cell. */
static void move_heat(struct solver *solver)
{
    struct simulation *simulation = solver->simulation;
    struct halo *halo = &simulation->halo;
    const struct faces *faces = &simulation->faces;
    int64_t *change = memory_array((size_t)halo->n_local, sizeof(*change));

    halo_gather(halo, solver->temperature, 1, MPI_DOUBLE);
    for (int axis = 0; axis < N_AXES; axis++) {
        for (int f = faces->first_owned[axis]; f < faces->n[axis]; f++) {
            const struct face *face = &faces->list[axis][f];
            double heat = conductance(solver, face) * (solver->temperature[face->low] -
                                                       solver->temperature[face->high]);
            int64_t moved = (int64_t)(heat * simulation->units.per_size[ENERGY]);
            change[face->low] -= moved;
            change[face->high] += moved;
        }
    }
    halo_scatter(halo, change, 1);
    for (int own = 0; own < halo->n_owned; own++) {
        simulation->mesh.state[own][ENERGY] += change[halo->first_owned + own];
    }
    free(change);
}

bool conduction_advance(struct simulation *simulation, double time_step,
                        int64_t *n_iterations)
{
    size_t n = (size_t)simulation->halo.n_local;
    double *arrays = memory_array(6 * n, sizeof(*arrays));
    struct solver solver = {
        .simulation = simulation,
        .time_step = time_step,
        .capacity = arrays,
        .diagonal = arrays + n,
        .residual = arrays + 2 * n,
        .product = arrays + 3 * n,
        .temperature = arrays + 4 * n,
        .direction = arrays + 5 * n,
    };
    bool is_converged;

    set_matrix(&solver);
    is_converged = solve_temperature(&solver, n_iterations);
    move_heat(&solver);
    free(arrays);
    return is_converged;
}
