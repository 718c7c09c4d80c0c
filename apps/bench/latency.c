/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocking ping-pong between ranks 0 and 1 against message length; the value is the
 * time one way. Other ranks wait in a barrier meanwhile. A program of its own.
 */
#include "apps/bench/ping_pong.h"

static void report(struct bench *bench, size_t n_bytes)
{
    double seconds = bench_seconds(bench, ping_pong_exchange, n_bytes);

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
    .verify = ping_pong_verify,
    .report = report,
};

int main(int argc, char **argv)
{
    return bench_main(argc, argv, &spec);
}
