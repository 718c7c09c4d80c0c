/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time of a barrier over all ranks, with computation before each one if that is wanted:
 * the benchmark of the BCS-MPI paper's section 5.3. A program of its own.
 */
#include "apps/bench/bench.h"
#include "apps/bench/compute.h"

#include <stdio.h>
#include <time.h>

#define LATE_NS 5000000L

static void barrier(struct bench *bench, size_t n_bytes, long n_iterations)
{
    (void)bench;
    (void)n_bytes;
    for (long i = 0; i < n_iterations; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void compute_and_barrier(struct bench *bench, size_t n_bytes, long n_iterations)
{
    for (long i = 0; i < n_iterations; i++) {
        compute_run(bench, bench->n_compute_steps);
        barrier(bench, n_bytes, 1);
    }
}

/* Whether all ranks are on one machine, and so read one clock. */
static int ranks_share_clock(const struct bench *bench)
{
    MPI_Comm machine;
    int n_here;
    int is_whole;
    int is_whole_everywhere;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                        &machine);
    MPI_Comm_size(machine, &n_here);
    MPI_Comm_free(&machine);
    is_whole = n_here == bench->n_ranks;
    MPI_Allreduce(&is_whole, &is_whole_everywhere, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return is_whole_everywhere;
}

/* A barrier moves no data; what can be verified is that nobody leaves it before the
 * last has entered. Every rank is the late one once. */
static long verify(struct bench *bench, size_t n_bytes)
{
    struct timespec delay = {.tv_nsec = LATE_NS};
    long n_errors = 0;

    if (!ranks_share_clock(bench)) {
        barrier(bench, n_bytes, 1);
        return 0;
    }
    for (int late = 0; late < bench->n_ranks; late++) {
        double entered;
        double left;
        double last_entered;

        if (bench->rank == late) {
            nanosleep(&delay, NULL);
        }
        entered = bench_now_seconds();
        barrier(bench, n_bytes, 1);
        left = bench_now_seconds();
        MPI_Allreduce(&entered, &last_entered, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (left < last_entered) {
            fprintf(stderr,
                    "bench_barrier: rank %d left %.1f us before the last entered\n",
                    bench->rank, (last_entered - left) * 1e6);
            n_errors++;
        }
    }
    return n_errors;
}

static void report(struct bench *bench, size_t n_bytes)
{
    bench_body_fn body = bench->compute_ms > 0 ? compute_and_barrier : barrier;
    double seconds = bench_seconds(bench, body, n_bytes);

    bench_print(bench, "barrier", n_bytes, seconds * 1e6, "us");
}

static const struct bench_spec spec = {
    .name = "barrier",
    .summary =
        "Barriers over all ranks, one after the other; the time of one, with the\n"
        "computation before it.",
    .options = BENCH_OPTION_COMPUTE,
    .n_ranks_timed = BENCH_ALL_RANKS,
    .unit_bytes = 1,
    .n_slots = bench_one_slot,
    .setup = compute_setup,
    .verify = verify,
    .report = report,
};

int main(int argc, char **argv)
{
    return bench_main(argc, argv, &spec);
}
