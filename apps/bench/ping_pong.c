/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ping-pong behind latency and pairs. Runs on whatever ranks they let communicate.
 */
#include "apps/bench/ping_pong.h"

#include <string.h>

void ping_pong_exchange(struct bench *bench, size_t n_bytes, long n_iterations)
{
    int n = (int)n_bytes;
    int partner = bench_partner(bench);

    for (long i = 0; i < n_iterations; i++) {
        if (bench->rank < partner) {
            MPI_Send(bench->send, n, MPI_BYTE, partner, 0, MPI_COMM_WORLD);
            MPI_Recv(bench->receive, n, MPI_BYTE, partner, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(bench->receive, n, MPI_BYTE, partner, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            MPI_Send(bench->send, n, MPI_BYTE, partner, 0, MPI_COMM_WORLD);
        }
    }
}

long ping_pong_verify(struct bench *bench, size_t n_bytes)
{
    int partner = bench_partner(bench);

    if (!bench_is_timed(bench) || partner == MPI_PROC_NULL) {
        return 0;
    }
    bench_fill(bench->send, n_bytes, bench->rank);
    memset(bench->receive, 0, n_bytes);
    ping_pong_exchange(bench, n_bytes, 1);
    return bench_check(bench, bench->receive, n_bytes, partner);
}
