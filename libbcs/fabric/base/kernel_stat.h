/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the kernel says of a process or a thread in its file stat; man 5 proc. Any
 * thread.
 */
#ifndef LIBBCS_FABRIC_BASE_KERNEL_STAT_H
#define LIBBCS_FABRIC_BASE_KERNEL_STAT_H

#include <stdbool.h>
#include <stdint.h>

/** Times are in ticks of sysconf(_SC_CLK_TCK). */
struct bcs_kernel_stat {
    char state;     /* 'R', 'S', ..., 'Z': zombie */
    int64_t parent; /* a process; 0: none */
    uint64_t user_time, system_time;
    int64_t n_threads;   /* of its process; a zombie leader with live threads has more
                            than one */
    uint64_t start_time; /* since boot */
    int32_t core;        /* it ran on last */
};

/** Read that of a process. @return false: it cannot be read, as there is none, say */
bool bcs_kernel_stat_process(int64_t pid, struct bcs_kernel_stat *stat_out);

/** The same of a thread of this process. */
bool bcs_kernel_stat_thread(int64_t id, struct bcs_kernel_stat *stat_out);

#endif
