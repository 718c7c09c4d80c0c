/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computation between, or beside, the exchanges of a benchmark: a fixed amount of work,
 * not a wait for a clock, so that time which anybody takes from it shows up.
 */
#ifndef APPS_BENCH_COMPUTE_H
#define APPS_BENCH_COMPUTE_H

#include "apps/bench/bench.h"

/** Do so many steps of work, each of which waits for the one before. */
void compute_run(struct bench *bench, long n_steps);

/** Find the work that takes compute_ms on an undisturbed core: the same on the
 *  n_computing ranks, or all if that is 0, and none on the others. Collective; a
 *  bench_spec's setup. */
void compute_setup(struct bench *bench);

#endif
