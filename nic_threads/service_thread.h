/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of the library's own in a process of the program. They take no signals, which
 * are the program's, and may run on all cores, whatever the launcher has bound the
 * process to. Used by the background thread, the timekeeper and the NIC threads.
 */
#ifndef NIC_THREADS_SERVICE_THREAD_H
#define NIC_THREADS_SERVICE_THREAD_H

#include <pthread.h>

/**
 * Start a thread.
 *
 * @param name  up to 15 characters, as debuggers and top(1) show it
 * @return 0 or -errno; end with pthread_join
 */
int nic_service_thread_start(pthread_t *thread_out, void *(*run)(void *),
                             void *argument, const char *name);

#endif
