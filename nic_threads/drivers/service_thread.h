/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of the library's own in a process of the program. They take no signals, which
 * are the program's, and may run on all cores, whatever the launcher has bound the
 * process to. Used by the background thread, the timekeeper and the NIC threads.
 */
#ifndef NIC_THREADS_DRIVERS_SERVICE_THREAD_H
#define NIC_THREADS_DRIVERS_SERVICE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/**
 * Start a thread.
 *
 * @param name  up to 15 characters, as debuggers and top(1) show it
 * @return 0 or -errno; end with pthread_join
 */
int nic_service_thread_start(pthread_t *thread_out, void *(*run)(void *),
                             void *argument, const char *name);

/**
 * For the calling thread: be woken in time, also while all cores are busy. By the lowest
 * real-time priority if the process may have it (root, CAP_SYS_NICE, RLIMIT_RTPRIO); else by
 * asking for short turns, which the kernel honours less strictly.
 *
 * @return whether it has real-time priority
 */
bool nic_service_thread_be_prompt(void);

/** For the calling thread: go to a core, and stay there for as long as the kernel has no
 *  reason to move it. Does nothing if the process may not run there. */
void nic_service_thread_go_to(int cpu);

#endif
