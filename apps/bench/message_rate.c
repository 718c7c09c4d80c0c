/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages per second from rank 0 to rank 1, 8 bytes each unless told otherwise, in
 * windows of non-blocking messages. Other ranks wait in a barrier meanwhile. A program
 * of its own.
 */
#include "apps/bench/window.h"

static void report(struct bench *bench, size_t n_bytes)
{
    double seconds = bench_seconds(bench, window_exchange, n_bytes);
    double n_messages = (double)window_n_slots(bench, n_bytes);

    bench_print(bench, "message_rate", n_bytes, n_messages / seconds * 1e-6, "M/s");
}

static const struct bench_spec spec = {
    .name = "message_rate",
    .summary = "Windows of short Isend on rank 0; million messages per second.",
    .options = BENCH_OPTION_LENGTHS | BENCH_OPTION_WINDOW,
    .n_ranks_timed = 2,
    .unit_bytes = 1,
    .n_bytes_min = 8,
    .n_bytes_max = 8,
    .n_slots = window_n_slots,
    .verify = window_verify,
    .report = report,
};

int main(int argc, char **argv)
{
    return bench_main(argc, argv, &spec);
}
