/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread of the service: its start, its looks, its parking, its end. Called by the
 * process that hosts it.
 */
#ifndef NIC_THREADS_SERVICE_SERVICE_THREAD_H
#define NIC_THREADS_SERVICE_SERVICE_THREAD_H

#include <pthread.h>

#include "nic_threads/machine/worker.h"

struct nic_service_thread {
    /* Set before it is started. */
    const struct nic_worker_ops *worker;
    void *state;
    uint32_t part;
    /* Its own. */
    struct nic_wakers wakers;
    pthread_t id;
    _Atomic bool is_stopping; /* set before the thread is woken for it */
};

/**
 * Start a thread.
 *
 * @param name  up to 15 characters, as debuggers and top(1) show it
 * @return 0 or -errno; end with nic_service_thread_stop
 */
int nic_service_thread_start(struct nic_service_thread *thread, const char *name);

/** End a thread after the look that it is at, and wait for it. */
void nic_service_thread_stop(struct nic_service_thread *thread);

#endif
