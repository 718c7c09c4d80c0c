/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time of a broadcast to all ranks against message length. The root moves on by one
 * rank each time, so that no root can run ahead of the others. A program of its own.
 */
#include "apps/bench/bench.h"

#include <string.h>

static void bcast_from(struct bench *bench, size_t n_bytes, int root)
{
    MPI_Bcast(bench->receive, (int)n_bytes, MPI_BYTE, root, MPI_COMM_WORLD);
}

static void bcast(struct bench *bench, size_t n_bytes, long n_iterations)
{
    for (long i = 0; i < n_iterations; i++) {
        bcast_from(bench, n_bytes, (int)(i % bench->n_ranks));
    }
}

static long verify(struct bench *bench, size_t n_bytes)
{
    long n_errors = 0;

    for (int root = 0; root < bench->n_ranks; root++) {
        if (bench->rank == root) {
            bench_fill(bench->receive, n_bytes, root);
        } else {
            memset(bench->receive, 0, n_bytes);
        }
        bcast_from(bench, n_bytes, root);
        n_errors += bench_check(bench, bench->receive, n_bytes, root);
    }
    return n_errors;
}

static void report(struct bench *bench, size_t n_bytes)
{
    double seconds = bench_seconds(bench, bcast, n_bytes);

    bench_print(bench, "bcast", n_bytes, seconds * 1e6, "us");
}

static const struct bench_spec spec = {
    .name = "bcast",
    .summary = "Broadcasts from each rank in turn; the time of one.",
    .options = BENCH_OPTION_LENGTHS,
    .n_ranks_timed = BENCH_ALL_RANKS,
    .unit_bytes = 1,
    .n_bytes_min = 1,
    .n_bytes_max = 1 << 20,
    .n_slots = bench_one_slot,
    .verify = verify,
    .report = report,
};

int main(int argc, char **argv)
{
    return bench_main(argc, argv, &spec);
}
