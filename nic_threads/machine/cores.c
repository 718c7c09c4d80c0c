/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hints to the kernel; see cores.h. Called by the service's threads, and by processes
 * that wait.
 */
#include "nic_threads/machine/cores.h"

#include <sched.h>
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

void nic_cores_allow_all(pthread_t thread)
{
    cpu_set_t everywhere;

    memset(&everywhere, 0xff, sizeof(everywhere));
    pthread_setaffinity_np(thread, sizeof(everywhere),
                           &everywhere); /* else: as before */
}

bool nic_cores_be_prompt(void)
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

uint64_t nic_cores_lend(struct bcs_machine *machine)
{
    int cpu = sched_getcpu();
    uint64_t lent = cpu >= 0 && cpu < BCS_LENT_CPUS ? UINT64_C(1) << cpu : 0;

    if (lent != 0) {
        atomic_fetch_or_explicit(&machine->lent_cpus, lent, memory_order_relaxed);
    }
    return lent;
}

void nic_cores_take_back(struct bcs_machine *machine, uint64_t lent)
{
    if (lent != 0) {
        atomic_fetch_and_explicit(&machine->lent_cpus, ~lent, memory_order_relaxed);
    }
}

/** Does nothing if the process may not run there. */
static void go_to(int cpu)
{
    cpu_set_t there;

    CPU_ZERO(&there);
    CPU_SET(cpu, &there);
    pthread_setaffinity_np(pthread_self(), sizeof(there), &there);
    nic_cores_allow_all(pthread_self());
}

void nic_cores_go_to_lent(const struct bcs_machine *machine)
{
    uint64_t lent = atomic_load_explicit(&machine->lent_cpus, memory_order_relaxed);
    int cpu = sched_getcpu();

    if (lent != 0 && cpu >= 0 && (cpu >= BCS_LENT_CPUS || (lent >> cpu & 1) == 0)) {
        go_to(__builtin_ctzll(lent));
    }
}
