/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * V-cycles: two relaxations on the way down, one on the way up. Each colour of a
 * relaxation, each residual and each correction is followed by an exchange of rows,
 * which ends a superstep; so is each comparison of norms. Red points depend on black
 * ones only and the other way round, and the norm is a maximum: so the solution has the
 * same bits on any number of processes.
 */
#include "apps/cbsp/ocean_multigrid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N_DOWN 2
#define N_UP 1
#define MAX_CYCLES 40

struct norms {
    double residual;
    double side;
};

/* The larger number; one that is none stays. */
static double larger(double a, double b)
{
    return isnan(a) || b <= a ? a : b;
}

static double *side_row(const struct ocean_multigrid *grid, int depth, size_t row)
{
    const struct ocean_level *level = &grid->levels[depth];

    return grid->sides[depth] + (row + 1 - level->first) * (level->n + 1);
}

double *ocean_multigrid_side(const struct ocean_multigrid *grid, size_t row)
{
    return side_row(grid, 0, row);
}

static void exchange(const struct ocean_level *level, struct ocean_field *field)
{
    ocean_exchange(level, &field, 1);
}

static void relax_colour(const struct ocean_multigrid *grid, int depth,
                         struct ocean_field *solution, double shift, size_t colour)
{
    const struct ocean_level *level = &grid->levels[depth];
    double area = 1.0 / ((double)level->n * (double)level->n);
    double factor = 1.0 / (4.0 + shift * area);

    for (size_t i = level->first; i < level->end; i++) {
        const double *above = ocean_row(solution, level, i - 1);
        const double *below = ocean_row(solution, level, i + 1);
        const double *side = side_row(grid, depth, i);
        double *row = ocean_row(solution, level, i);

        for (size_t j = 1 + (i + colour) % 2; j < level->n; j += 2) {
            double around = (above[j] + below[j]) + (row[j - 1] + row[j + 1]);
            row[j] = (around - area * side[j]) * factor;
        }
    }
}

static void relax(const struct ocean_multigrid *grid, int depth,
                  struct ocean_field *solution, double shift, int n_times)
{
    for (int n = 0; n < 2 * n_times; n++) {
        relax_colour(grid, depth, solution, shift, (size_t)n % 2);
        exchange(&grid->levels[depth], solution);
    }
}

static struct norms find_residual(struct ocean_multigrid *grid, int depth,
                                  const struct ocean_field *solution, double shift)
{
    const struct ocean_level *level = &grid->levels[depth];
    double inverse_area = (double)level->n * (double)level->n;
    struct norms norms = {0};

    for (size_t i = level->first; i < level->end; i++) {
        const double *above = ocean_row(solution, level, i - 1);
        const double *below = ocean_row(solution, level, i + 1);
        const double *row = ocean_row(solution, level, i);
        const double *side = side_row(grid, depth, i);
        double *residual = ocean_row(&grid->residuals[depth], level, i);

        for (size_t j = 1; j < level->n; j++) {
            double around = (above[j] + below[j]) + (row[j - 1] + row[j + 1]);
            double laplacian = (around - 4.0 * row[j]) * inverse_area;

            residual[j] = side[j] - (laplacian - shift * row[j]);
            norms.residual = larger(norms.residual, fabs(residual[j]));
            norms.side = larger(norms.side, fabs(side[j]));
        }
    }
    return norms;
}

/* Residual of level depth, averaged, becomes the right-hand side of the next. */
static void restrict_residual(struct ocean_multigrid *grid, int depth)
{
    const struct ocean_level *fine = &grid->levels[depth];
    const struct ocean_level *coarse = &grid->levels[depth + 1];
    const struct ocean_field *residual = &grid->residuals[depth];

    for (size_t i = coarse->first; i < coarse->end; i++) {
        const double *above = ocean_row(residual, fine, 2 * i - 1);
        const double *row = ocean_row(residual, fine, 2 * i);
        const double *below = ocean_row(residual, fine, 2 * i + 1);
        double *side = side_row(grid, depth + 1, i);

        for (size_t j = 1; j < coarse->n; j++) {
            size_t k = 2 * j;
            double corners =
                (above[k - 1] + above[k + 1]) + (below[k - 1] + below[k + 1]);
            double edges = (above[k] + below[k]) + (row[k - 1] + row[k + 1]);
            side[j] = (corners + 2.0 * edges + 4.0 * row[k]) / 16.0;
        }
    }
}

/* Adds row i of the correction to an even row; half of i and i + 1 to an odd one. */
static void correct_row(double *row, const double *upper, const double *lower,
                        size_t n_coarse)
{
    for (size_t j = 0; j < n_coarse; j++) {
        double here = 0.5 * (upper[j] + lower[j]);
        double next = 0.5 * (upper[j + 1] + lower[j + 1]);

        row[2 * j] += here;
        row[2 * j + 1] += 0.5 * (here + next);
    }
}

static void correct(const struct ocean_multigrid *grid, int depth,
                    struct ocean_field *solution)
{
    const struct ocean_level *fine = &grid->levels[depth];
    const struct ocean_level *coarse = &grid->levels[depth + 1];
    const struct ocean_field *correction = &grid->solutions[depth + 1];

    for (size_t i = fine->first; i < fine->end; i++) {
        correct_row(ocean_row(solution, fine, i), ocean_row(correction, coarse, i / 2),
                    ocean_row(correction, coarse, (i + 1) / 2), coarse->n);
    }
}

/* The coarsest level has one point. */
static void solve_point(const struct ocean_multigrid *grid, int depth,
                        struct ocean_field *solution, double shift)
{
    relax_colour(grid, depth, solution, shift, 1);
    exchange(&grid->levels[depth], solution);
}

static void cycle(struct ocean_multigrid *grid, int depth, struct ocean_field *solution,
                  double shift)
{
    const struct ocean_level *level = &grid->levels[depth];
    struct ocean_field *coarser;

    if (depth == grid->n_levels - 1) {
        solve_point(grid, depth, solution, shift);
        return;
    }
    relax(grid, depth, solution, shift, N_DOWN);
    find_residual(grid, depth, solution, shift);
    exchange(level, &grid->residuals[depth]);
    restrict_residual(grid, depth);
    coarser = &grid->solutions[depth + 1];
    memset(coarser->area.mine, 0,
           ocean_level_points(&grid->levels[depth + 1]) * sizeof(double));
    cycle(grid, depth + 1, coarser, shift);
    correct(grid, depth, solution);
    exchange(level, solution);
    relax(grid, depth, solution, shift, N_UP);
}

/* Whether the residual is small; all processes find the same. */
static bool is_solved(struct ocean_multigrid *grid, const struct norms *mine)
{
    struct world *world = grid->levels[0].world;
    const struct norms *all = (const struct norms *)grid->norms.mine;
    struct norms norms = {0};

    world_share(world, &grid->norms, mine, sizeof(*mine));
    for (int process = 0; process < world->n_processes; process++) {
        norms.residual = larger(norms.residual, all[process].residual);
        norms.side = larger(norms.side, all[process].side);
    }
    return norms.residual <= grid->tolerance * norms.side;
}

void ocean_multigrid_solve(struct ocean_multigrid *grid, struct ocean_field *solution,
                           double shift)
{
    for (int n = 0; n <= MAX_CYCLES; n++) {
        struct norms norms = find_residual(grid, 0, solution, shift);

        if (is_solved(grid, &norms)) {
            return;
        }
        cycle(grid, 0, solution, shift);
        grid->n_cycles++;
    }
    grid->n_failed++;
}

void ocean_multigrid_init(struct ocean_multigrid *grid, struct world *world, size_t n,
                          double tolerance)
{
    *grid = (struct ocean_multigrid){.tolerance = tolerance};
    area_init(&grid->norms, world, (size_t)world->n_processes * sizeof(struct norms));
    while (n >> grid->n_levels > 1) {
        int depth = grid->n_levels++;
        struct ocean_level *level = &grid->levels[depth];

        ocean_level_init(level, world, n, depth);
        ocean_field_init(&grid->residuals[depth], level);
        if (depth > 0) {
            ocean_field_init(&grid->solutions[depth], level);
        }
        grid->sides[depth] =
            world_array(world, ocean_level_points(level), sizeof(double));
    }
}

void ocean_multigrid_fini(struct ocean_multigrid *grid)
{
    for (int depth = 0; depth < grid->n_levels; depth++) {
        ocean_field_fini(&grid->residuals[depth]);
        if (depth > 0) {
            ocean_field_fini(&grid->solutions[depth]);
        }
        free(grid->sides[depth]);
        ocean_level_fini(&grid->levels[depth]);
    }
    area_fini(&grid->norms);
}
