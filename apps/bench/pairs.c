/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All pairs of neighbours at once: blocking ping-pong, the time one way, and windows of
 * non-blocking messages, the rate of all pairs together. Pairs have nothing to do with
 * each other, so whatever makes the time grow and the rate fall behind their number is
 * shared by them. A program of its own.
 */
#include "apps/bench/ping_pong.h"
#include "apps/bench/window.h"

static long verify(struct bench *bench, size_t n_bytes)
{
    return ping_pong_verify(bench, n_bytes) + window_verify(bench, n_bytes);
}

static void report(struct bench *bench, size_t n_bytes)
{
    double one_way_seconds = bench_seconds(bench, ping_pong_exchange, n_bytes) / 2;
    double window_seconds = bench_seconds(bench, window_exchange, n_bytes);
    long n_messages = bench->n_ranks / 2 * window_n_slots(bench, n_bytes);

    bench_print(bench, "pairs", n_bytes, one_way_seconds * 1e6, "us");
    bench_print(bench, "pairs_rate", n_bytes,
                (double)n_messages / window_seconds * 1e-6, "M/s");
}

static const struct bench_spec spec = {
    .name = "pairs",
    .summary =
        "Ping-pong of all pairs of neighbours at once, the slowest one's time one "
        "way;\n"
        "then windows of Isend, million messages per second of all pairs together.",
    .options = BENCH_OPTION_LENGTHS | BENCH_OPTION_WINDOW,
    .n_ranks_timed = BENCH_ALL_RANKS,
    .unit_bytes = 1,
    .n_bytes_min = 8,
    .n_bytes_max = 1 << 10,
    .n_slots = window_n_slots,
    .verify = verify,
    .report = report,
};

int main(int argc, char **argv)
{
    return bench_main(argc, argv, &spec);
}
