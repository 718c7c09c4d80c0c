/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The source iteration: sweep, compare with the flux before, again.
 */
#ifndef SWEEP3D_SOLVE_H
#define SWEEP3D_SOLVE_H

#include <stdbool.h>

#include "apps/sweep3d/decomposition.h"
#include "apps/sweep3d/fields.h"
#include "apps/sweep3d/input.h"
#include "apps/sweep3d/sweep.h"

/* The same on every rank, except n_fixed. */
struct solution {
    int n_iterations;
    /* Largest relative change of the scalar flux in the last iteration. */
    double change;
    /* False if ITMX iterations did not bring the change below EPSI. */
    bool is_converged;
    /* Negative outflows of this process that were set to 0, in all iterations. */
    long n_fixed;
    /* Wall time of the slowest rank, from a barrier on. */
    double time_s;
};

/** Iterate to the end; collective. Rank 0 prints a line an iteration if IPRINT is 1. */
void solve(const struct input *input, const struct decomposition *decomposition,
           struct sweep *sweep, struct fields *fields, struct solution *solution_out);

#endif
