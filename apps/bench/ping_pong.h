/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The blocking ping-pong of pairs of ranks, of which the even one begins: the exchange
 * that latency and pairs both measure. Runs on whatever ranks a program lets
 * communicate.
 */
#ifndef APPS_BENCH_PING_PONG_H
#define APPS_BENCH_PING_PONG_H

#include "apps/bench/bench.h"

/** Carry out n_iterations times: a message of the even rank and the answer. */
void ping_pong_exchange(struct bench *bench, size_t n_bytes, long n_iterations);

/** Carry out one with a pattern of each rank's own; errors found. */
long ping_pong_verify(struct bench *bench, size_t n_bytes);

#endif
