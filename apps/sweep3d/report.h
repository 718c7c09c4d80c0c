/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What sweep3d prints. Rank 0 only. Lines that begin with "run:" or "time:" depend on
 * how the program was run; all others depend on the problem alone, to the last digit.
 */
#ifndef SWEEP3D_REPORT_H
#define SWEEP3D_REPORT_H

#include <stdbool.h>

#include "apps/sweep3d/decomposition.h"
#include "apps/sweep3d/input.h"
#include "apps/sweep3d/solve.h"
#include "apps/sweep3d/totals.h"

/** Print the problem and the process grid, before the iteration. */
void report_problem(const struct input *input,
                    const struct decomposition *decomposition, bool is_nonblocking);

/** Print the totals. @param n_fixed  negative outflows set to 0, on all ranks */
void report_totals(const struct solution *solution, const struct totals *totals,
                   long n_fixed);

/**
 * Print solve time, grind time (wall time a cell, angle and iteration) and step time
 * (wall time a step of the pipeline).
 *
 * @param n_steps  steps of one sweep on one process
 */
void report_times(const struct input *input, const struct solution *solution,
                  int n_steps);

#endif
