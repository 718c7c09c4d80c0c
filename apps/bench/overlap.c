/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much of a non-blocking exchange is hidden behind computation, against message
 * length. All ranks form a ring: each sends to the next and receives from the one
 * before. The computation is a fixed amount of work, not a wait for a clock, so that
 * time which anybody takes from it to move data shows up. A program of its own.
 */
#include "apps/bench/bench.h"
#include "apps/bench/compute.h"

#include <string.h>

/* One exchange with n_steps of computation between its start and its completion. */
static void exchange(struct bench *bench, size_t n_bytes, long n_steps)
{
    int n = (int)n_bytes;
    int next = (bench->rank + 1) % bench->n_ranks;
    int previous = (bench->rank + bench->n_ranks - 1) % bench->n_ranks;

    MPI_Irecv(bench->receive, n, MPI_BYTE, previous, 0, MPI_COMM_WORLD,
              &bench->requests[0]);
    MPI_Isend(bench->send, n, MPI_BYTE, next, 0, MPI_COMM_WORLD, &bench->requests[1]);
    compute_run(bench, n_steps);
    MPI_Waitall(2, bench->requests, MPI_STATUSES_IGNORE);
}

static void exchange_alone(struct bench *bench, size_t n_bytes, long n_iterations)
{
    for (long i = 0; i < n_iterations; i++) {
        exchange(bench, n_bytes, 0);
    }
}

static void compute_alone(struct bench *bench, size_t n_bytes, long n_iterations)
{
    (void)n_bytes;
    for (long i = 0; i < n_iterations; i++) {
        compute_run(bench, bench->n_compute_steps);
    }
}

static void exchange_and_compute(struct bench *bench, size_t n_bytes, long n_iterations)
{
    for (long i = 0; i < n_iterations; i++) {
        exchange(bench, n_bytes, bench->n_compute_steps);
    }
}

static long verify(struct bench *bench, size_t n_bytes)
{
    int previous = (bench->rank + bench->n_ranks - 1) % bench->n_ranks;

    bench_fill(bench->send, n_bytes, bench->rank);
    memset(bench->receive, 0, n_bytes);
    exchange_and_compute(bench, n_bytes, 1);
    return bench_check(bench, bench->receive, n_bytes, previous);
}

/* The work is long beside the exchange, and its time drifts with the machine's: only
 * neighbours in time are compared. */
static void report(struct bench *bench, size_t n_bytes)
{
    double alone = bench_seconds(bench, exchange_alone, n_bytes);
    double exposed =
        bench_extra_seconds(bench, compute_alone, exchange_and_compute, n_bytes);

    bench_print(bench, "overlap", n_bytes, 100 * (1 - exposed / alone), "%");
    bench_print(bench, "overlap_alone", n_bytes, alone * 1e6, "us");
    bench_print(bench, "overlap_exposed", n_bytes, exposed * 1e6, "us");
}

static const struct bench_spec spec = {
    .name = "overlap",
    .summary = "Non-blocking ring exchange beside computation: per cent of the\n"
               "transfer that is hidden, the time of the exchange alone, and the\n"
               "time that it adds to the computation.",
    .options = BENCH_OPTION_LENGTHS | BENCH_OPTION_COMPUTE,
    .n_ranks_timed = BENCH_ALL_RANKS,
    .unit_bytes = 1,
    .n_bytes_min = 8,
    .n_bytes_max = 4 << 20,
    .compute_ms = 1,
    .n_slots = bench_one_slot,
    .setup = compute_setup,
    .verify = verify,
    .report = report,
};

int main(int argc, char **argv)
{
    return bench_main(argc, argv, &spec);
}
