/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cycles from the initial state to the end.
 */
#ifndef SAGE_SOLVE_H
#define SAGE_SOLVE_H

#include <stdbool.h>

#include "apps/sage/adapt.h"
#include "apps/sage/simulation.h"
#include "apps/sage/totals.h"

struct solution {
    int n_cycles;
    /* Reached time and last step of the simulation. */
    double time, time_step;
    struct totals first, last;
    double first_entropy, last_entropy;
    struct adapt_counts adapt;
    /* Fallbacks: of this rank while cycles run. */
    int64_t n_fallbacks, n_cg_iterations;
    /* Sum of the number of cells over all cycles. */
    int64_t n_cell_cycles;
    /* False if a density or pressure became negative or a content too large. */
    bool is_valid;
    /* True if each conduction solve has reached its tolerance. */
    bool is_converged;
    /* Wall time of the cycles on the slowest rank. */
    double wall_s;
};

/** Run all cycles. Every rank calls it; all but wall_s and shares is equal on all. */
void solve(struct simulation *simulation, struct solution *solution_out);

#endif
