/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time of a complete exchange against the length of the block that each rank has for
 * each other. A program of its own.
 */
#include "apps/bench/bench.h"

#include <string.h>

static long n_slots(const struct bench *bench, size_t n_bytes)
{
    (void)n_bytes;
    return bench->n_ranks;
}

static void alltoall(struct bench *bench, size_t n_bytes, long n_iterations)
{
    for (long i = 0; i < n_iterations; i++) {
        MPI_Alltoall(bench->send, (int)n_bytes, MPI_BYTE, bench->receive, (int)n_bytes,
                     MPI_BYTE, MPI_COMM_WORLD);
    }
}

static long block_key(const struct bench *bench, int from, int to)
{
    return (long)from * bench->n_ranks + to;
}

static long verify(struct bench *bench, size_t n_bytes)
{
    long n_errors = 0;

    for (int to = 0; to < bench->n_ranks; to++) {
        bench_fill(bench->send + (size_t)to * n_bytes, n_bytes,
                   block_key(bench, bench->rank, to));
    }
    memset(bench->receive, 0, (size_t)bench->n_ranks * n_bytes);
    alltoall(bench, n_bytes, 1);
    for (int from = 0; from < bench->n_ranks; from++) {
        n_errors += bench_check(bench, bench->receive + (size_t)from * n_bytes, n_bytes,
                                block_key(bench, from, bench->rank));
    }
    return n_errors;
}

static void report(struct bench *bench, size_t n_bytes)
{
    double seconds = bench_seconds(bench, alltoall, n_bytes);

    bench_print(bench, "alltoall", n_bytes, seconds * 1e6, "us");
}

static const struct bench_spec spec = {
    .name = "alltoall",
    .summary = "Complete exchanges of blocks of each length; the time of one.",
    .options = BENCH_OPTION_LENGTHS,
    .n_ranks_timed = BENCH_ALL_RANKS,
    .unit_bytes = 1,
    .n_bytes_min = 1,
    .n_bytes_max = 256 << 10,
    .n_slots = n_slots,
    .verify = verify,
    .report = report,
};

int main(int argc, char **argv)
{
    return bench_main(argc, argv, &spec);
}
