/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The checks, each with its limit. A value that is not a number passes none. Every rank
 * runs it once, so that all leave with the same exit status.
 */
#include "apps/sweep3d/checks.h"

#include <math.h>

#define MAX_BALANCE_ERROR 1e-10
#define MAX_SYMMETRY_ERROR 1e-10

bool checks_run(struct check checks_out[N_CHECKS], const struct input *input,
                const struct solution *solution, const struct totals *totals,
                const double symmetry_error[3])
{
    double symmetry =
        fmax(fmax(symmetry_error[0], symmetry_error[1]), symmetry_error[2]);
    bool passed = true;

    checks_out[CHECK_BALANCE] = (struct check){
        .name = "balance",
        .applies = true,
        .passed = fabs(totals->balance) <= MAX_BALANCE_ERROR,
        .value = fabs(totals->balance),
        .rule = "the balance error must not exceed 1e-10",
    };
    checks_out[CHECK_CONVERGENCE] = (struct check){
        .name = "convergence",
        .applies = !input_is_fixed_count(input),
        .passed = solution->is_converged,
        .value = solution->change,
        .rule = "the change must fall below EPSI within ITMX iterations",
    };
    checks_out[CHECK_SIGN] = (struct check){
        .name = "sign",
        .applies = input->ifixups != 0,
        .passed = totals->flux_min >= 0,
        .value = totals->flux_min,
        .rule = "with fixup no cell may have a negative flux",
    };
    checks_out[CHECK_SYMMETRY] = (struct check){
        .name = "symmetry",
        .applies = symmetry >= 0,
        .passed = symmetry <= MAX_SYMMETRY_ERROR,
        .value = symmetry,
        .rule = "mirrored cells must not differ by more than 1e-10 of the largest flux",
    };
    for (int c = 0; c < N_CHECKS; c++) {
        passed = passed && (!checks_out[c].applies || checks_out[c].passed);
    }
    return passed;
}
