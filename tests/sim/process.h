/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process of a simulated job, or a thread of the library, that runs the library as it
 * is: the ranks and the background thread of driver `inline`. It is a fiber, and is
 * left, and gone on with later, wherever another process may see what it has done so
 * far: at what it posts and kicks, before and after it takes a lock, after a step under
 * the lock, before it wakes others, between two roles, and where it yields its core.
 * The places within the engine are found by the linker (--wrap, meson.build), so that
 * the library knows nothing of them. A process yields, sleeps, wakes others and looks
 * at the clock by a table of ours (libbcs/fabric/base/system.h): where it sleeps it is
 * left until somebody wakes it or its time has come, and its clock is what
 * sim_process_pass_time makes of it.
 */
#ifndef TESTS_SIM_PROCESS_H
#define TESTS_SIM_PROCESS_H

#include "nic_threads/roles/roles.h"
#include "tests/sim/fiber.h"

/** One of them. */
struct sim_process {
    struct sim_fiber fiber;
    uint32_t number;
    const void *asleep_on; /* a word; NULL: it is awake */
    uint64_t until_ns;     /* if it sleeps: no longer; 0: no limit */
    bool is_busy; /* with something else than the library; it can go on at any time */
    bool has_ended;
    struct sim_process *next; /* in the list of all */
};

/** A job begins: there are no processes, and no time has passed. From the first job on
 *  our table of the system is in force. */
void sim_processes_begin(void);

/** Make a process that runs fn. End with sim_process_fini. */
void sim_process_init(struct sim_process *process, uint32_t number,
                      void (*fn)(void *arg), void *arg);

/** Let it be left between two roles of its engine, too. */
void sim_process_man(struct sim_process *process, struct nic_engine *engine);

/** Free it, wherever it is; accepts a zeroed one. */
void sim_process_fini(struct sim_process *process);

/** Whether a process has to go on. */
bool sim_process_is_awake(const struct sim_process *process);

/** Let a process go on up to the next place where it may be left. */
void sim_process_run(struct sim_process *process);

/** Within a process: such a place. Elsewhere without effect. */
void sim_process_stop(void);

/** Within a process: do something else than the library for as long as anybody is
 *  awake, or longer. */
void sim_process_be_busy(void);

/** Time passes for all. */
void sim_process_pass_time(uint64_t ns);

/** Time passes until somebody wakes up by it. @return false: nobody does */
bool sim_process_pass_sleep(void);

#endif
