/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * On which cores the service's threads run, and how soon: all hints to the kernel are
 * here. The threads may run on all cores, whatever the launcher has bound their process
 * to. A process that does nothing but wait for a timed strobe lends its core to the
 * thread that sends it.
 */
#ifndef NIC_THREADS_MACHINE_CORES_H
#define NIC_THREADS_MACHINE_CORES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "libbcs/fabric/ring/sleep.h"

/** Let a thread run on all cores that its process may have at all. */
void nic_cores_allow_all(pthread_t thread);

/**
 * For the calling thread: be woken in time, also while all cores are busy. By the
 * lowest real-time priority if the process may have it (root, CAP_SYS_NICE,
 * RLIMIT_RTPRIO); else by asking for short turns, which the kernel honours less
 * strictly.
 *
 * @return whether it has real-time priority
 */
bool nic_cores_be_prompt(void);

/** Lend the caller's core. @return its bit, for nic_cores_take_back; 0: it cannot be
 *  lent */
uint64_t nic_cores_lend(struct bcs_machine *machine);

/** End that. Accepts 0. */
void nic_cores_take_back(struct bcs_machine *machine, uint64_t lent);

/** Whether any core is lent. */
static inline bool nic_cores_are_lent(const struct bcs_machine *machine)
{
    /* relaxed: a hint */
    return atomic_load_explicit(&machine->lent_cpus, memory_order_relaxed) != 0;
}

/** For the calling thread: go to a core that is lent, unless it is on one or there is
 *  none, and stay there for as long as the kernel has no reason to move it. */
void nic_cores_go_to_lent(const struct bcs_machine *machine);

#endif
