/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What has come out of the cycles so far. solve.c makes it; the report and the checks
 * look at it.
 */
#ifndef SAGE_SOLUTION_H
#define SAGE_SOLUTION_H

#include <stdbool.h>
#include <stdint.h>

#include "apps/sage/adapt.h"
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

#endif
