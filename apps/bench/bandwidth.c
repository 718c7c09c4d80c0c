/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bandwidth from rank 0 to rank 1 against message length, in windows of non-blocking
 * messages. Other ranks wait in a barrier meanwhile. A program of its own.
 */
#include "apps/bench/window.h"

static void report(struct bench *bench, size_t n_bytes)
{
    double seconds = bench_seconds(bench, window_exchange, n_bytes);
    double window_bytes = (double)window_n_slots(bench, n_bytes) * (double)n_bytes;

    bench_print(bench, "bandwidth", n_bytes, window_bytes / seconds * 1e-6, "MB/s");
}

static const struct bench_spec spec = {
    .name = "bandwidth",
    .summary = "Windows of Isend on rank 0 and Irecv on rank 1; bytes per second.",
    .options = BENCH_OPTION_LENGTHS | BENCH_OPTION_WINDOW,
    .n_ranks_timed = 2,
    .unit_bytes = 1,
    .n_bytes_min = 1,
    .n_bytes_max = 4 << 20,
    .n_slots = window_n_slots,
    .verify = window_verify,
    .report = report,
};

int main(int argc, char **argv)
{
    return bench_main(argc, argv, &spec);
}
