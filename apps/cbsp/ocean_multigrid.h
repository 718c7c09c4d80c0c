/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Solves (laplacian - shift) u = f on the grid of ocean, u = 0 on the edge, by
 * multigrid with red-black Gauss-Seidel.
 */
#ifndef CBSP_OCEAN_MULTIGRID_H
#define CBSP_OCEAN_MULTIGRID_H

#include "apps/cbsp/ocean_level.h"

#define OCEAN_MAX_LEVELS 16

struct ocean_multigrid {
    struct ocean_level levels[OCEAN_MAX_LEVELS];
    int n_levels;
    /* On each level; the solution of level 0 is the caller's. */
    struct ocean_field solutions[OCEAN_MAX_LEVELS];
    struct ocean_field residuals[OCEAN_MAX_LEVELS];
    /* Right-hand sides, in the layout of a field. */
    double *sides[OCEAN_MAX_LEVELS];
    /* [process][2] */
    struct area norms;
    double tolerance;
    /* Cycles so far, and solutions that did not get there. */
    int64_t n_cycles;
    int n_failed;
};

/** Prepare for a grid of n x n intervals, n a power of 2; collective. */
void ocean_multigrid_init(struct ocean_multigrid *grid, struct world *world, size_t n,
                          double tolerance);

/** Free it; collective. */
void ocean_multigrid_fini(struct ocean_multigrid *grid);

/** A row of the right-hand side of level 0, to be set before a solution. */
double *ocean_multigrid_side(const struct ocean_multigrid *grid, size_t row);

/**
 * Solve, starting from what is in the solution, with its rows up to date. When this
 * returns its rows next to the own ones are up to date, too. A solution that does not
 * come within the tolerance is counted in n_failed. Collective.
 */
void ocean_multigrid_solve(struct ocean_multigrid *grid, struct ocean_field *solution,
                           double shift);

#endif
