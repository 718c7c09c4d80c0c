/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the jobs of a user on one machine know of each other: which processors each may
 * use, and how many of its processes are awake. Each job has a slot in a segment that
 * belongs to no job (libbcs/session/job_slot.h). All of it is a hint: by it a process
 * that waits decides how soon to give its processor up.
 *
 * Invariant: a slot's `owner` is 0 while the slot is free, and otherwise names the
 * process that has taken it. Only that process changes n_processes and the processors.
 * If it has ended, whoever finds that first takes the slot over, and frees it.
 *
 * Two slots are beside each other if their jobs may use a processor in common. Who
 * enters publishes n_processes and then looks at all others, seq_cst. Of two that enter
 * at once, one sees the other, and marks both.
 */
#ifndef LIBBCS_FABRIC_BASE_MACHINE_JOBS_H
#define LIBBCS_FABRIC_BASE_MACHINE_JOBS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libbcs/fabric/base/align.h"

enum {
    BCS_JOBS_MOST = 64,   /* jobs of a user on a machine: bits of a word */
    BCS_SLOT_CPUS = 1024, /* processors, as in cpu_set_t */
    BCS_SLOT_CPU_WORDS = BCS_SLOT_CPUS / 64,
};

/** What a job tells the others. */
struct bcs_job_slot {
    _Alignas(BCS_CACHE_LINE) _Atomic uint64_t owner; /* bcs_process_word; 0: free */
    _Atomic uint64_t beside;      /* bits: slots beside this one, also such as were */
    _Atomic uint32_t n_processes; /* 0: nobody is here */
    _Atomic uint32_t n_asleep;    /* of these, a moment ago */
    _Atomic uint64_t swept_ns;    /* when this job last looked for dead owners */
    _Alignas(BCS_CACHE_LINE) uint64_t cpus[BCS_SLOT_CPU_WORDS]; /* bits */
};

/** The slots of a machine; zeroed at first. */
struct bcs_machine_jobs {
    struct bcs_job_slot slots[BCS_JOBS_MOST];
};

/** A job's slot, as one of its processes sees it. */
struct bcs_own_slot {
    struct bcs_machine_jobs
        *jobs; /* NULL: the job has no slot, and knows of no other job */
    uint32_t number;
};

/**
 * Take a free slot, or one whose owner has ended. Nobody sees it before
 * bcs_jobs_enter.
 *
 * @param owner  bcs_process_word of this process
 * @return false: all are taken
 */
bool bcs_jobs_take(struct bcs_machine_jobs *jobs, uint64_t owner, uint32_t *number_out);

/** Enter a slot that this process has taken: n_processes of a job that may run on
 *  these processors, together. */
void bcs_jobs_enter(const struct bcs_own_slot *own,
                    const uint64_t cpus[BCS_SLOT_CPU_WORDS], uint32_t n_processes);

/** Free the slot that this process has taken. */
void bcs_jobs_leave(const struct bcs_own_slot *own);

/** Free all slots beside this one whose owners have ended. Some system calls. */
void bcs_jobs_sweep(const struct bcs_own_slot *own);

/** The same, if it is long ago that a process of the job did it. */
void bcs_jobs_sweep_in_time(const struct bcs_own_slot *own);

/** How many processes of the jobs beside this one are awake. */
uint32_t bcs_jobs_count_beside(const struct bcs_own_slot *own);

/** Whether there are jobs beside this one. A load, for who waits. */
static inline bool bcs_jobs_are_shared(const struct bcs_own_slot *own)
{
    /* relaxed: a hint, as all here */
    return own->jobs != NULL &&
           atomic_load_explicit(&own->jobs->slots[own->number].beside,
                                memory_order_relaxed) != 0;
}

/** How many processes of the jobs beside this one are awake. */
static inline uint32_t bcs_jobs_n_beside(const struct bcs_own_slot *own)
{
    return __builtin_expect(bcs_jobs_are_shared(own), 0) ? bcs_jobs_count_beside(own)
                                                         : 0;
}

/** Tell the other jobs how many processes of this one sleep. By who sleeps next, or has
 *  slept, so that it holds nobody up. */
static inline void bcs_jobs_tell(const struct bcs_own_slot *own, uint32_t n_asleep)
{
    if (own->jobs != NULL) {
        atomic_store_explicit(&own->jobs->slots[own->number].n_asleep, n_asleep,
                              memory_order_relaxed);
    }
}

#endif
