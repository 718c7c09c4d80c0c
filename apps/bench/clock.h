/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clock of all benchmark programs.
 */
#ifndef APPS_BENCH_CLOCK_H
#define APPS_BENCH_CLOCK_H

#include <time.h>

/** Seconds on a clock that all processes of one machine share. */
static inline double bench_now_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
