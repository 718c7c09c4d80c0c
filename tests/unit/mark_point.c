/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Check tells the parent process of every assertion that holds, by a system call each,
 * so that a crash is told with the last one before it. Some tests have millions. This
 * stands between (the linker's --wrap) and lets through the first one of every tick of
 * the clock, a few milliseconds: a crash is still told with a point after which it has
 * come. An assertion that does not hold is told where it is. Called by any thread of a
 * test program.
 */
#include <stdatomic.h>
#include <time.h>

void __real__mark_point(const char *file, int line);
void __wrap__mark_point(const char *file, int line);

void __wrap__mark_point(const char *file, int line)
{
    static _Atomic long last_ns = -1; /* relaxed: one more or less does no harm */
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    if (atomic_load_explicit(&last_ns, memory_order_relaxed) != now.tv_nsec) {
        atomic_store_explicit(&last_ns, now.tv_nsec, memory_order_relaxed);
        __real__mark_point(file, line);
    }
}
