/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread has the mask of signals of who makes it, so that is changed for the moment.
 */
#include "libbcs/fabric/base/thread_start.h"

#include <signal.h>

int bcs_thread_start(pthread_t *id_out, const char *name, void *(*run)(void *arg),
                     void *arg)
{
    sigset_t all, before;
    int rc;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = -pthread_create(id_out, NULL, run, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc == 0) {
        pthread_setname_np(*id_out, name);
    }
    return rc;
}
