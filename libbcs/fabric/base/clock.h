/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time stamps. bcs_clock_ticks is for measuring on the hot path (a few ns, no system
 * call); bcs_clock_now_ns is CLOCK_MONOTONIC, by the table of system.h, and not for the
 * path of a message. Both may be called by any thread.
 */
#ifndef LIBBCS_FABRIC_BASE_CLOCK_H
#define LIBBCS_FABRIC_BASE_CLOCK_H

#include <stdint.h>

#include "libbcs/fabric/base/system.h"

/** Nanoseconds of CLOCK_MONOTONIC, the same for all processes of a machine. */
static inline uint64_t bcs_clock_now_ns(void)
{
    return bcs_system()->now_ns();
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

/** A moment on both clocks. */
struct bcs_clock_moment {
    uint64_t ticks;
    uint64_t ns;
};

static inline struct bcs_clock_moment bcs_clock_moment(void)
{
    return (struct bcs_clock_moment){bcs_clock_ticks(), bcs_clock_now_ns()};
}

/** How many ticks a time takes, by their rate since a moment, which should be some
 *  microseconds ago at least. */
static inline uint64_t bcs_clock_ticks_in(uint64_t ns, struct bcs_clock_moment since)
{
    struct bcs_clock_moment now = bcs_clock_moment();

    return (uint64_t)((double)ns * (double)(now.ticks - since.ticks) /
                      (double)(now.ns - since.ns + 1));
}

/** What ticks are in nanoseconds, by their rate; rounded to the nearest. */
static inline uint64_t bcs_clock_in_ns(uint64_t ticks, double ns_per_tick)
{
    return (uint64_t)((double)ticks * ns_per_tick + 0.5);
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
