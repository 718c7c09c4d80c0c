/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The threads of this process, by the kernel: which of them are the program's, and which those of
 * libraries. Any thread.
 */
#ifndef BCS_BASE_TASKS_H
#define BCS_BASE_TASKS_H

#include <stdint.h>

enum { BCS_TASKS_MOST = 64 };

/** Threads of a process, as gettid has them. */
struct bcs_tasks {
    uint32_t n; /* BCS_TASKS_MOST + 1: unknown, or too many */
    int32_t ids[BCS_TASKS_MOST];
};

/** List all of this process. */
struct bcs_tasks bcs_tasks_list(void);

/**
 * List those that a call has started, in which the calling thread has been since there was a list.
 *
 * @param before  that list; if it has more than the calling thread, others may have started some
 *                meanwhile, so that it is unknown which the call has started
 */
struct bcs_tasks bcs_tasks_since(const struct bcs_tasks *before);

/** How many this process has that are not in a list. @return 0: unknown, as is that list, say */
uint32_t bcs_tasks_count(const struct bcs_tasks *but);

#endif
