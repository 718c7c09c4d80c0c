/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The checks, each with its limit. A value that is not a number passes none. Every rank
 * runs it once, so that all leave with the same exit status.
 */
#include "apps/sage/checks.h"

#include <math.h>

#define MAX_DENSITY_ERROR 0.05

/* What the end has more than the beginning, in the quantity's own unit. */
static double gain(const struct simulation *simulation, const struct solution *solution,
                   int n)
{
    return (wide_sum_value(&solution->last.conserved[n]) -
            wide_sum_value(&solution->first.conserved[n])) *
           simulation->units.size[n];
}

static bool is_kept(const struct solution *solution, int n)
{
    return wide_sum_is_equal(&solution->last.conserved[n],
                             &solution->first.conserved[n]);
}

static void check_conservation(struct check checks_out[N_CHECKS],
                               const struct simulation *simulation,
                               const struct solution *solution)
{
    double momentum = fabs(gain(simulation, solution, MOMENTUM)) +
                      fabs(gain(simulation, solution, MOMENTUM + 1)) +
                      fabs(gain(simulation, solution, MOMENTUM + 2));

    checks_out[CHECK_MASS] = (struct check){
        .name = "mass",
        .applies = true,
        .passed = is_kept(solution, MASS),
        .value = gain(simulation, solution, MASS),
        .rule = "the total must not change by a single unit",
    };
    checks_out[CHECK_MOMENTUM] = (struct check){
        .name = "momentum",
        .applies = true,
        .passed = is_kept(solution, MOMENTUM) && is_kept(solution, MOMENTUM + 1) &&
                  is_kept(solution, MOMENTUM + 2),
        .value = momentum,
        .rule = "the total must change by exactly what the walls give",
    };
    checks_out[CHECK_ENERGY] = (struct check){
        .name = "energy",
        .applies = true,
        .passed = is_kept(solution, ENERGY),
        .value = gain(simulation, solution, ENERGY),
        .rule = "the total must not change by a single unit",
    };
}

static void check_state(struct check checks_out[N_CHECKS],
                        const struct simulation *simulation,
                        const struct solution *solution,
                        const struct final_totals *totals)
{
    const struct forest *forest = &simulation->mesh.forest;
    int64_t n_finest = forest->n_roots_all * (int64_t)forest_n_keys(forest, 0);

    checks_out[CHECK_STATE] = (struct check){
        .name = "state",
        .applies = true,
        .passed =
            solution->is_valid && totals->density_min > 0 && totals->pressure_min > 0,
        .value = fmin(totals->density_min, totals->pressure_min),
        .rule = "density and pressure must stay positive and contents in range",
    };
    checks_out[CHECK_MESH] = (struct check){
        .name = "mesh",
        .applies = true,
        .passed = totals->n_covered == n_finest && totals->n_unbalanced == 0,
        .value = (double)totals->n_unbalanced,
        .rule = "cells must fill the domain and neighbours be one level apart at most",
    };
}

bool checks_run(struct check checks_out[N_CHECKS], const struct simulation *simulation,
                const struct solution *solution, const struct final_totals *totals)
{
    double entropy_gain = solution->last_entropy - solution->first_entropy;
    bool passed = true;

    check_conservation(checks_out, simulation, solution);
    check_state(checks_out, simulation, solution, totals);
    checks_out[CHECK_ENTROPY] = (struct check){
        .name = "entropy",
        .applies = true,
        .passed = entropy_gain >= 0,
        .value = entropy_gain,
        .rule = "the total must not fall",
    };
    checks_out[CHECK_CONDUCTION] = (struct check){
        .name = "conduction",
        .applies = simulation->input->conductivity > 0,
        .passed = solution->is_converged,
        .value = (double)solution->n_cg_iterations,
        .rule = "each solve must reach cg_tolerance within cg_iterations",
    };
    checks_out[CHECK_ACCURACY] = (struct check){
        .name = "accuracy",
        .applies = totals->density_error >= 0,
        .passed = totals->density_error <= MAX_DENSITY_ERROR,
        .value = totals->density_error,
        .rule = "the density must be within 5 % of the exact solution on average",
    };
    for (int c = 0; c < N_CHECKS; c++) {
        passed = passed && (!checks_out[c].applies || checks_out[c].passed);
    }
    return passed;
}
