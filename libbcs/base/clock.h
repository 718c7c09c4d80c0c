/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time stamps. bcs_clock_ticks is for measuring on the hot path (a few ns, no system
 * call); bcs_clock_now_ns is CLOCK_MONOTONIC. Both may be called by any thread.
 */
#ifndef BCS_BASE_CLOCK_H
#define BCS_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/** Nanoseconds of CLOCK_MONOTONIC, the same for all processes of a machine. */
static inline uint64_t bcs_clock_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/** A raw counter that only grows (TSC where there is one, else nanoseconds). */
static inline uint64_t bcs_clock_ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return bcs_clock_now_ns();
#endif
}

/** Tell the processor that this is a spin loop. */
static inline void bcs_clock_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
