/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The threads of this process, by the kernel: which of them are the program's, and
 * which those of libraries. Any thread.
 */
#ifndef LIBBCS_FABRIC_BASE_TASKS_H
#define LIBBCS_FABRIC_BASE_TASKS_H

#include <stdint.h>

#include "libbcs/fabric/base/thread_state.h"

enum { BCS_TASKS_MOST = 64 };

/** A thread: ids are given anew, so it is the two together that are its own. */
struct bcs_task {
    int32_t id;     /* as gettid has it */
    uint64_t began; /* as the kernel counts; 0: unknown, which is no thread's */
    struct bcs_thread_state state; /* of others than who has made the list */
};

/** Threads of a process. */
struct bcs_tasks {
    uint32_t n; /* BCS_TASKS_MOST + 1: unknown, or too many */
    struct bcs_task tasks[BCS_TASKS_MOST];
};

/** List all of this process. If others run, they are given some ten milliseconds to
 *  fall asleep: a list of threads that sleep is what bcs_tasks_since needs. */
struct bcs_tasks bcs_tasks_list(void);

/**
 * List those that a call has started, in which the calling thread has been since there
 * was a list.
 *
 * @param before that list; if it has others than the calling thread, and one of them
 *                has run since, that may have started some, so that it is unknown which
 *                the call has started
 */
struct bcs_tasks bcs_tasks_since(const struct bcs_tasks *before);

/** Whether a thread is in a list. */
bool bcs_tasks_have(const struct bcs_tasks *tasks, int32_t id);

/**
 * Visit the threads of this process.
 *
 * @param visit  is given the id of each, and ends it by false
 * @return whether all have been visited
 */
bool bcs_tasks_visit(bool (*visit)(void *arg, int32_t id), void *arg);

#endif
