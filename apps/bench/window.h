/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows of non-blocking messages from the even rank of a pair to the other one,
 * closed by an answer: the exchange that bandwidth, message_rate and pairs measure.
 */
#ifndef APPS_BENCH_WINDOW_H
#define APPS_BENCH_WINDOW_H

#include "apps/bench/bench.h"

/** Messages of a window: --window, fewer (at least 2) when they exceed 16 MB. */
long window_n_slots(const struct bench *bench, size_t n_bytes);

/** Carry out n_iterations windows: Isend or Irecv all slots, Waitall, answer. */
void window_exchange(struct bench *bench, size_t n_bytes, long n_iterations);

/** Carry out one window with a pattern of its own in each slot; errors found. */
long window_verify(struct bench *bench, size_t n_bytes);

#endif
