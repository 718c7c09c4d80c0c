/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cycles from the initial state to the end.
 */
#ifndef SAGE_SOLVE_H
#define SAGE_SOLVE_H

#include "apps/sage/simulation.h"
#include "apps/sage/solution.h"

/** Run all cycles. Every rank calls it; all but wall_s and shares is equal on all. */
void solve(struct simulation *simulation, struct solution *solution_out);

#endif
