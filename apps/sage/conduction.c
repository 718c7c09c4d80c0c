/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Backward Euler for C dT/dt = div(k grad T) with conjugate gradients, preconditioned
 * by the diagonal, in the pipelined form of Ghysels and Vanroose: one gather and one
 * reduction (of both dot products) an iteration. The gather is hidden behind the dot
 * products, the reduction behind the matrix product. The dot products are exact sums of
 * rounded products, and a row of the matrix is summed in the global order of faces, so
 * every number of ranks makes the same iterations.
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
    /* Of a face, by the levels of its cells: heat that flows across it within the step
     * for each degree of difference. */
    double conductance[FOREST_MAX_LEVEL + 1][FOREST_MAX_LEVEL + 1];
    /* For each local cell, with meaning for own cells only: heat capacity C, diagonal D
     * of the matrix A, residual r, search direction p ... */
    double *capacity, *diagonal, *residual, *direction;
    /* ... A D^-1 r, A p, A D^-1 A p, and A applied to scaled. */
    double *image, *direction_image, *direction_second, *product;
    /* With meaning for ghosts as well: temperature, and what is multiplied by A
     * next. */
    double *temperature, *scaled;
};

/* What an iteration needs to know, with u = D^-1 r: r * u, and u * A u. */
struct products {
    double residual_squared, scaled_squared;
};

static void set_conductances(struct solver *solver)
{
    const struct units *units = &solver->simulation->units;
    double factor = solver->simulation->input->conductivity * solver->time_step;

    for (int low = 0; low <= solver->simulation->input->max_level; low++) {
        for (int high = 0; high <= solver->simulation->input->max_level; high++) {
            double distance = 0.5 * (units->edge[low] + units->edge[high]);
            solver->conductance[low][high] =
                factor * units->area[low > high ? low : high] / distance;
        }
    }
}

static double conductance(const struct solver *solver, const struct face *face)
{
    return solver->conductance[face->level_low][face->level_high];
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

/* The matrix and the old temperature, which is being gathered afterwards. */
static void set_matrix(struct solver *solver)
{
    struct simulation *simulation = solver->simulation;
    struct halo *halo = &simulation->halo;
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
    halo_gather_begin(halo, solver->temperature, 1, MPI_DOUBLE);
    for (int axis = 0; axis < N_AXES; axis++) {
        for (int f = 0; f < faces->n[axis]; f++) {
            const struct face *face = &faces->list[axis][f];
            double value = conductance(solver, face);
            solver->diagonal[face->low] += value;
            solver->diagonal[face->high] += value;
        }
    }
}

/* A product with D^-1, which is gathered afterwards. */
static void scale_begin(struct solver *solver, const double *values)
{
    struct halo *halo = &solver->simulation->halo;

    for (int own = 0; own < halo->n_owned; own++) {
        int cell = halo->first_owned + own;
        solver->scaled[cell] = values[cell] / solver->diagonal[cell];
    }
    halo_gather_begin(halo, solver->scaled, 1, MPI_DOUBLE);
}

/* Then one with A. */
static void multiply(struct solver *solver, double *product_out)
{
    struct halo *halo = &solver->simulation->halo;

    halo_gather_end(halo);
    heat_loss(solver, solver->scaled, product_out);
    for (int own = 0; own < halo->n_owned; own++) {
        int cell = halo->first_owned + own;
        product_out[cell] += solver->capacity[cell] * solver->scaled[cell];
    }
}

/* Reduce both dot products, and apply A D^-1 to the image: meanwhile, or, if each
 * number is reduced by itself, afterwards. */
static void reduce_and_multiply(struct solver *solver, struct exact_sum sums[2])
{
    MPI_Request request;

    if (solver->simulation->input->reductions == REDUCTIONS_SINGLE) {
        exact_sum_allreduce(&sums[0], 1);
        exact_sum_allreduce(&sums[1], 1);
        multiply(solver, solver->product);
        return;
    }
    exact_sum_allreduce_begin(sums, 2, &request);
    multiply(solver, solver->product);
    exact_sum_allreduce_end(sums, 2, &request);
}

/* Both products, and A D^-1 applied to the image. */
static struct products find_products(struct solver *solver)
{
    const struct halo *halo = &solver->simulation->halo;
    struct exact_sum sums[2];

    scale_begin(solver, solver->image);
    exact_sum_init(&sums[0]);
    exact_sum_init(&sums[1]);
    for (int own = 0; own < halo->n_owned; own++) {
        int cell = halo->first_owned + own;
        double scaled = solver->residual[cell] / solver->diagonal[cell];
        exact_sum_add(&sums[0], solver->residual[cell] * scaled);
        exact_sum_add(&sums[1], solver->image[cell] * scaled);
    }
    reduce_and_multiply(solver, sums);
    return (struct products){exact_sum_value(&sums[0]), exact_sum_value(&sums[1])};
}

/* Turn the direction and go a step along it. */
static void advance(struct solver *solver, double ratio, double step)
{
    const struct halo *halo = &solver->simulation->halo;

    for (int own = 0; own < halo->n_owned; own++) {
        int cell = halo->first_owned + own;
        double direction = solver->residual[cell] / solver->diagonal[cell] +
                           ratio * solver->direction[cell];
        double image = solver->image[cell] + ratio * solver->direction_image[cell];
        double second = solver->product[cell] + ratio * solver->direction_second[cell];
        solver->direction[cell] = direction;
        solver->direction_image[cell] = image;
        solver->direction_second[cell] = second;
        solver->temperature[cell] += step * direction;
        solver->residual[cell] -= step * image;
        solver->image[cell] -= step * second;
    }
}

/* From the old temperature to the new one. */
static bool solve_temperature(struct solver *solver, int64_t *n_iterations)
{
    const struct input *input = solver->simulation->input;
    struct halo *halo = &solver->simulation->halo;
    double ratio = 0;
    double step, wanted;
    struct products products;
    int iteration = 0;

    halo_gather_end(halo);
    heat_loss(solver, solver->temperature, solver->residual);
    for (int own = 0; own < halo->n_owned; own++) {
        solver->residual[halo->first_owned + own] *= -1;
    }
    scale_begin(solver, solver->residual);
    multiply(solver, solver->image);
    products = find_products(solver);
    step = products.residual_squared / products.scaled_squared;
    wanted = products.residual_squared * input->cg_tolerance * input->cg_tolerance;
    while (products.residual_squared > wanted && iteration < input->cg_iterations) {
        double earlier = products.residual_squared;
        advance(solver, ratio, step);
        products = find_products(solver);
        ratio = products.residual_squared / earlier;
        step = products.residual_squared /
               (products.scaled_squared - ratio * products.residual_squared / step);
        iteration++;
    }
    *n_iterations += iteration;
    return products.residual_squared <= wanted;
}

static void move_across(const struct solver *solver, int axis, int from, int to,
                        int64_t *change)
{
    double per_energy = solver->simulation->units.per_size[ENERGY];

    for (int f = from; f < to; f++) {
        const struct face *face = &solver->simulation->faces.list[axis][f];
        double heat = conductance(solver, face) * (solver->temperature[face->low] -
                                                   solver->temperature[face->high]);
        int64_t moved = (int64_t)(heat * per_energy);
        change[face->low] -= moved;
        change[face->high] += moved;
    }
}

/* Move heat across the faces of which this rank has the low cell. */
static void move_heat(struct solver *solver)
{
    struct simulation *simulation = solver->simulation;
    struct halo *halo = &simulation->halo;
    const struct faces *faces = &simulation->faces;
    int64_t *change;

    halo_gather_begin(halo, solver->temperature, 1, MPI_DOUBLE);
    change = memory_array((size_t)halo->n_local, sizeof(*change));
    for (int axis = 0; axis < 2; axis++) {
        move_across(solver, axis, faces->first_owned[axis], faces->first_border[axis],
                    change);
    }
    halo_gather_end(halo);
    for (int axis = 0; axis < N_AXES; axis++) {
        move_across(solver, axis, faces->first_border[axis], faces->n[axis], change);
    }
    halo_scatter_begin(halo, change, 1);
    move_across(solver, 2, faces->first_owned[2], faces->first_border[2], change);
    halo_scatter_end(halo, change, 1);
    for (int own = 0; own < halo->n_owned; own++) {
        simulation->mesh.state[own][ENERGY] += change[halo->first_owned + own];
    }
    free(change);
}

bool conduction_advance(struct simulation *simulation, double time_step,
                        int64_t *n_iterations)
{
    size_t n = (size_t)simulation->halo.n_local;
    double *arrays = memory_array(10 * n, sizeof(*arrays));
    struct solver solver = {
        .simulation = simulation,
        .time_step = time_step,
        .capacity = arrays,
        .diagonal = arrays + n,
        .residual = arrays + 2 * n,
        .direction = arrays + 3 * n,
        .image = arrays + 4 * n,
        .direction_image = arrays + 5 * n,
        .direction_second = arrays + 6 * n,
        .product = arrays + 7 * n,
        .temperature = arrays + 8 * n,
        .scaled = arrays + 9 * n,
    };
    bool is_converged;

    set_conductances(&solver);
    set_matrix(&solver);
    is_converged = solve_temperature(&solver, n_iterations);
    move_heat(&solver);
    free(arrays);
    return is_converged;
}
