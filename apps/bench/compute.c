/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work of a known length; see compute.h.
 */
#include "apps/bench/compute.h"

#define N_TRIAL_STEPS 1000000L
#define N_TRIALS 7

void compute_run(struct bench *bench, long n_steps)
{
    double value = bench->compute_value;

    for (long step = 0; step < n_steps; step++) {
        value = value * 0.999999 + 1e-6;
    }
    bench->compute_value = value;
}

void compute_setup(struct bench *bench)
{
    double fastest = 1e9;

    for (int trial = 0; trial < N_TRIALS && bench->rank == 0; trial++) {
        double start = bench_now_seconds();
        double seconds;

        compute_run(bench, N_TRIAL_STEPS);
        seconds = bench_now_seconds() - start;
        if (seconds < fastest) {
            fastest = seconds;
        }
    }
    bench->n_compute_steps =
        (long)(bench->compute_ms * 1e-3 / fastest * (double)N_TRIAL_STEPS);
    MPI_Bcast(&bench->n_compute_steps, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    if (bench->n_computing > 0 && bench->rank >= bench->n_computing) {
        bench->n_compute_steps = 0;
    }
}
