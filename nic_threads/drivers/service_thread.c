/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Start of the library's own threads; called by the process that hosts them.
 */
#include "nic_threads/drivers/service_thread.h"

#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BRIEF_RUNTIME_NS = 100000 };

/** As the kernel has it; the C library has no sched_setattr. */
struct scheduling {
    uint32_t n_bytes;
    uint32_t policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t
        runtime_ns; /* SCHED_OTHER: the thread's share at a time, from Linux 6.12 */
    uint64_t deadline_ns;
    uint64_t period_ns;
};

static void run_anywhere(pthread_t thread)
{
    cpu_set_t everywhere;

    memset(&everywhere, 0xff, sizeof(everywhere));
    pthread_setaffinity_np(thread, sizeof(everywhere),
                           &everywhere); /* else: as before */
}

int nic_service_thread_start(pthread_t *thread_out, void *(*run)(void *),
                             void *argument, const char *name)
{
    pthread_t thread;
    sigset_t all, before;
    int rc;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = -pthread_create(&thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc < 0) {
        return rc;
    }
    run_anywhere(thread);
    pthread_setname_np(thread, name);
    *thread_out = thread;
    return 0;
}

bool nic_service_thread_be_prompt(void)
{
    const struct sched_param real_time = {.sched_priority = 1};
    const struct scheduling brief = {.n_bytes = sizeof(brief),
                                     .policy = SCHED_OTHER,
                                     .runtime_ns = BRIEF_RUNTIME_NS};

    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0); /* ns; else the kernel may add 50 us */
    if (sched_setscheduler(0, SCHED_FIFO, &real_time) == 0) {
        return true;
    }
    syscall(SYS_sched_setattr, 0, &brief, 0); /* older kernels ignore the runtime */
    return false;
}

void nic_service_thread_go_to(int cpu)
{
    cpu_set_t there;

    CPU_ZERO(&there);
    CPU_SET(cpu, &there);
    pthread_setaffinity_np(pthread_self(), sizeof(there), &there);
    run_anywhere(pthread_self());
}
