/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Start of the library's own threads; called by the process that hosts them.
 */
#include "nic_threads/service_thread.h"

#include <sched.h>
#include <signal.h>
#include <string.h>

int nic_service_thread_start(pthread_t *thread_out, void *(*run)(void *),
                             void *argument, const char *name)
{
    pthread_t thread;
    sigset_t all, before;
    cpu_set_t everywhere;
    int rc;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = -pthread_create(&thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc < 0) {
        return rc;
    }
    memset(&everywhere, 0xff, sizeof(everywhere));
    pthread_setaffinity_np(thread, sizeof(everywhere),
                           &everywhere); /* else: as before */
    pthread_setname_np(thread, name);
    *thread_out = thread;
    return 0;
}
