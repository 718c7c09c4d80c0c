/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What sweep3d checks about its own result.
 */
#ifndef SWEEP3D_CHECKS_H
#define SWEEP3D_CHECKS_H

#include <stdbool.h>

#include "apps/common/check.h"
#include "apps/sweep3d/input.h"
#include "apps/sweep3d/solve.h"
#include "apps/sweep3d/totals.h"

enum check_id {
    CHECK_BALANCE,
    CHECK_CONVERGENCE,
    CHECK_SIGN,
    CHECK_SYMMETRY,
    N_CHECKS
};

/**
 * Judge a result. Pure, and the same on every rank.
 *
 * @param symmetry_error  as symmetry_measure gives it
 * @return true if all checks that apply have passed
 */
bool checks_run(struct check checks_out[N_CHECKS], const struct input *input,
                const struct solution *solution, const struct totals *totals,
                const double symmetry_error[3]);

#endif
