/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel's table, and which one is in force; see system.h. Runs in any process and
 * thread.
 */
#include "libbcs/fabric/base/system.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static bool kernel_sleep(const void *word, uint32_t value, uint64_t until_ns)
{
    const struct timespec until = {(time_t)(until_ns / 1000000000),
                                   (long)(until_ns % 1000000000)};

    return syscall(SYS_futex, word, FUTEX_WAIT_BITSET, value,
                   until_ns == 0 ? NULL : &until, NULL, FUTEX_BITSET_MATCH_ANY) < 0 &&
           errno == ETIMEDOUT;
}

static void kernel_wake(const void *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void kernel_yield(void)
{
    sched_yield();
}

const struct bcs_system_ops bcs_system_kernel = {
    .now_ns = bcs_kernel_now_ns,
    .sleep = kernel_sleep,
    .wake = kernel_wake,
    .yield = kernel_yield,
};

static const struct bcs_system_ops *in_force = &bcs_system_kernel;

const struct bcs_system_ops *bcs_system(void)
{
    return in_force;
}

void bcs_system_set(const struct bcs_system_ops *ops)
{
    in_force = ops;
}
