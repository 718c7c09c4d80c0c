/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time of a sum of doubles over all ranks against the length of the vector in bytes. A
 * program of its own.
 */
#include "apps/bench/bench.h"

#include <stdio.h>
#include <string.h>

static void allreduce(struct bench *bench, size_t n_bytes, long n_iterations)
{
    int n_values = (int)(n_bytes / sizeof(double));

    for (long i = 0; i < n_iterations; i++) {
        MPI_Allreduce(bench->send, bench->receive, n_values, MPI_DOUBLE, MPI_SUM,
                      MPI_COMM_WORLD);
    }
}

/* The summands are small whole numbers: the sum has the same bits in every order. */
static long verify(struct bench *bench, size_t n_bytes)
{
    size_t n_values = n_bytes / sizeof(double);
    double *summands = (double *)bench->send;
    const double *sums = (const double *)bench->receive;
    double n_ranks = bench->n_ranks;

    for (size_t i = 0; i < n_values; i++) {
        summands[i] = (double)bench->rank + (double)i;
    }
    memset(bench->receive, 0, n_bytes);
    allreduce(bench, n_bytes, 1);
    for (size_t i = 0; i < n_values; i++) {
        double expected = n_ranks * (n_ranks - 1) / 2 + n_ranks * (double)i;

        if (sums[i] != expected) {
            fprintf(stderr,
                    "bench_allreduce: rank %d: value %zu of %zu is %g, not %g\n",
                    bench->rank, i, n_values, sums[i], expected);
            return 1;
        }
    }
    return 0;
}

static void report(struct bench *bench, size_t n_bytes)
{
    double seconds = bench_seconds(bench, allreduce, n_bytes);

    bench_print(bench, "allreduce", n_bytes, seconds * 1e6, "us");
}

static const struct bench_spec spec = {
    .name = "allreduce",
    .summary = "Sums of doubles over all ranks, one after the other; the time of one.",
    .options = BENCH_OPTION_LENGTHS,
    .n_ranks_timed = BENCH_ALL_RANKS,
    .unit_bytes = sizeof(double),
    .n_bytes_min = sizeof(double),
    .n_bytes_max = 1 << 20,
    .n_slots = bench_one_slot,
    .verify = verify,
    .report = report,
};

int main(int argc, char **argv)
{
    return bench_main(argc, argv, &spec);
}
