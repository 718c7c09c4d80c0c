/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What must be true of a correct run, whatever the deck.
 */
#ifndef SAGE_CHECKS_H
#define SAGE_CHECKS_H

#include <stdbool.h>

#include "apps/common/check.h"
#include "apps/sage/simulation.h"
#include "apps/sage/solution.h"
#include "apps/sage/totals.h"

enum check_id {
    CHECK_MASS,
    CHECK_MOMENTUM,
    CHECK_ENERGY,
    CHECK_STATE,
    CHECK_MESH,
    CHECK_ENTROPY,
    CHECK_CONDUCTION,
    CHECK_ACCURACY,
    N_CHECKS
};

/** Judge a result. Every rank calls it. @return true if no check has failed */
bool checks_run(struct check checks_out[N_CHECKS], const struct simulation *simulation,
                const struct solution *solution, const struct final_totals *totals);

#endif
