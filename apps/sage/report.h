/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What sage prints. Rank 0 only. Lines that begin with "run:" or "time:" depend on how
 * the program was run; all others depend on the problem alone, to the last digit.
 */
#ifndef SAGE_REPORT_H
#define SAGE_REPORT_H

#include "apps/sage/simulation.h"
#include "apps/sage/solution.h"
#include "apps/sage/totals.h"

/** Print the problem and how it is shared out, before the first cycle. */
void report_problem(const struct simulation *simulation);

/** Print a line about the cycle that has just ended. */
void report_cycle(const struct solution *solution, const struct units *units);

/** Print what has come out. @param distance  of the most distant neighbour of a rank */
void report_result(const struct simulation *simulation, const struct solution *solution,
                   const struct final_totals *totals, int distance);

#endif
