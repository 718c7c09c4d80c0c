/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocking ping-pong between ranks 0 and 1 against message length; the value is the
 * time one way. Other ranks wait in a barrier meanwhile. A program of its own.
 */
#include "apps/bench/bench.h"

#include <string.h>

static void ping_pong(struct bench *bench, size_t n_bytes, long n_iterations)
{
    int n = (int)n_bytes;

    for (long i = 0; i < n_iterations; i++) {
        if (bench->rank == 0) {
            MPI_Send(bench->send, n, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(bench->receive, n, MPI_BYTE, 1, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(bench->receive, n, MPI_BYTE, 0, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            MPI_Send(bench->send, n, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
    }
}

static long verify(struct bench *bench, size_t n_bytes)
{
    if (!bench_is_timed(bench)) {
        return 0;
    }
    bench_fill(bench->send, n_bytes, bench->rank);
    memset(bench->receive, 0, n_bytes);
    ping_pong(bench, n_bytes, 1);
    return bench_check(bench, bench->receive, n_bytes, 1 - bench->rank);
}

static void report(struct bench *bench, size_t n_bytes)
{
    double seconds = bench_seconds(bench, ping_pong, n_bytes);

    bench_print(bench, "latency", n_bytes, seconds / 2 * 1e6, "us");
}

static const struct bench_spec spec = {
    .name = "latency",
    .summary = "Blocking ping-pong between ranks 0 and 1; the time one way.",
    .options = BENCH_OPTION_LENGTHS,
    .n_ranks_timed = 2,
    .unit_bytes = 1,
    .n_bytes_min = 0,
    .n_bytes_max = 4 << 20,
    .n_slots = bench_one_slot,
    .verify = verify,
    .report = report,
};

int main(int argc, char **argv)
{
    return bench_main(argc, argv, &spec);
}
