/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the library asks of the system while it waits: the time, sleep until somebody
 * wakes it, wake others, and let others have the core. All of it stands in one table,
 * the kernel's unless a simulator sets another one. Every thread of the library uses
 * the table, by bcs_clock_now_ns (clock.h), bcs_word_sleep, bcs_rest and bcs_word_wake
 * (park.h), and bcs_yield.
 *
 * Each of the four is a system call, or as slow as one, so that a call by address costs
 * nothing beside it. A poll reads ticks and pauses (clock.h), which are single
 * instructions and do not go through the table.
 */
#ifndef LIBBCS_FABRIC_BASE_SYSTEM_H
#define LIBBCS_FABRIC_BASE_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/** CLOCK_MONOTONIC, past the table: for the kernel's own, and for BSPlib's library,
 *  which has none. */
static inline uint64_t bcs_kernel_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/** The table. No function may be NULL; any thread calls them. */
struct bcs_system_ops {
    uint64_t (*now_ns)(void);
    /* while the word has this value, until that time at most (0: no limit); returns
     * whether the time has come */
    bool (*sleep)(const void *word, uint32_t value, uint64_t until_ns);
    void (*wake)(const void *word); /* all who sleep on it */
    void (*yield)(void);
};

/** The kernel's: CLOCK_MONOTONIC, futex and sched_yield. */
extern const struct bcs_system_ops bcs_system_kernel;

/** The table in force. Never NULL. Any thread. */
const struct bcs_system_ops *bcs_system(void);

/**
 * Put another table in force, for the whole process. For simulators and tests, before
 * there is a second thread, and while nobody sleeps.
 *
 * @param ops  the caller's, for as long as it is in force
 */
void bcs_system_set(const struct bcs_system_ops *ops);

/** Let others have this core first, if any are ready to run on it. */
static inline void bcs_yield(void)
{
    bcs_system()->yield();
}

#endif
