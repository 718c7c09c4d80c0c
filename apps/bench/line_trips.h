/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trips of a cache line that a program has measured between its batches, in the lines
 * by which bcs_kinds.py finds of which kind a run was.
 */
#ifndef BENCH_LINE_TRIPS_H
#define BENCH_LINE_TRIPS_H

#include <stddef.h>
#include <stdio.h>

#include "apps/bench/median.h"

/**
 * Print the median, and by how much the upper quartile is above the lower: more than
 * noise if the cores have moved meanwhile. On one rank.
 *
 * @param n_bytes  the length of the messages that were timed meanwhile
 * @param seconds  [n], n > 0; put in order
 */
static inline void line_trips_print(size_t n_bytes, double *seconds, long n)
{
    double middle = median_of(seconds, n);

    printf("line_trip %zu %.6g us\n", n_bytes, 1e6 * middle);
    printf("line_trip_spread %zu %.6g times\n", n_bytes,
           seconds[n - 1 - n / 4] / seconds[n / 4]);
    fflush(stdout);
}

#endif
