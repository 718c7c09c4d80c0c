/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slots of jobs; see machine_jobs.h for the invariant. Taken and left by the first
 * process of a job on its machine, counted by all of them, swept by any thread.
 */
#include "libbcs/fabric/base/machine_jobs.h"

#include <string.h>

#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/base/process.h"

#define SWEEP_NS 1000000000u /* from one sweep of a job to the next */

/** Take over a slot whose owner is `from`. @return whether this process has it now */
static bool take_over(struct bcs_job_slot *slot, uint64_t from, uint64_t owner)
{
    /* acquire: pairs with the release in set_free */
    return atomic_compare_exchange_strong_explicit(
        &slot->owner, &from, owner, memory_order_acquire, memory_order_relaxed);
}

/** Free a slot that this process has. */
static void set_free(struct bcs_job_slot *slot)
{
    atomic_store_explicit(&slot->n_processes, 0, memory_order_relaxed);
    /* release: who takes the slot next finds nobody there */
    atomic_store_explicit(&slot->owner, 0, memory_order_release);
}

static uint64_t owner_of(const struct bcs_job_slot *slot)
{
    return atomic_load_explicit(&slot->owner, memory_order_relaxed);
}

/** Whether a slot can be had from its owner. */
static bool is_left(uint64_t owner)
{
    return owner == 0 || bcs_process_word_has_ended(owner);
}

bool bcs_jobs_take(struct bcs_machine_jobs *jobs, uint64_t owner, uint32_t *number_out)
{
    for (uint32_t i = 0; i < BCS_JOBS_MOST; i++) {
        struct bcs_job_slot *slot = &jobs->slots[i];
        uint64_t from = owner_of(slot);

        if (is_left(from) && take_over(slot, from, owner)) {
            atomic_store_explicit(&slot->n_processes, 0, memory_order_relaxed);
            atomic_store_explicit(&slot->n_asleep, 0, memory_order_relaxed);
            atomic_store_explicit(&slot->beside, 0, memory_order_relaxed);
            *number_out = i;
            return true;
        }
    }
    return false;
}

static bool have_common(const struct bcs_job_slot *one,
                        const struct bcs_job_slot *other)
{
    for (int i = 0; i < BCS_SLOT_CPU_WORDS; i++) {
        if ((one->cpus[i] & other->cpus[i]) != 0) {
            return true;
        }
    }
    return false;
}

/** Say in a slot whether another one is beside it. */
static void mark(struct bcs_job_slot *slot, uint32_t other, bool is_beside)
{
    uint64_t bit = UINT64_C(1) << other;

    if (is_beside) {
        atomic_fetch_or_explicit(&slot->beside, bit, memory_order_relaxed);
    } else {
        atomic_fetch_and_explicit(&slot->beside, ~bit, memory_order_relaxed);
    }
}

void bcs_jobs_enter(const struct bcs_own_slot *own,
                    const uint64_t cpus[BCS_SLOT_CPU_WORDS], uint32_t n_processes)
{
    struct bcs_job_slot *all = own->jobs->slots, *mine = &all[own->number];

    memcpy(mine->cpus, cpus, sizeof(mine->cpus));
    /* seq_cst: see the top of machine_jobs.h; whoever sees it sees the processors */
    atomic_store_explicit(&mine->n_processes, n_processes, memory_order_seq_cst);
    for (uint32_t i = 0; i < BCS_JOBS_MOST; i++) {
        bool is_beside;

        if (i == own->number ||
            atomic_load_explicit(&all[i].n_processes, memory_order_seq_cst) == 0) {
            continue;
        }
        is_beside = have_common(mine, &all[i]);
        mark(mine, i, is_beside);
        mark(&all[i], own->number, is_beside);
    }
}

void bcs_jobs_leave(const struct bcs_own_slot *own)
{
    set_free(&own->jobs->slots[own->number]);
}

void bcs_jobs_sweep(const struct bcs_own_slot *own)
{
    struct bcs_job_slot *all = own->jobs->slots;
    uint64_t self = owner_of(&all[own->number]);
    /* relaxed: what is missed is found by the next sweep */
    uint64_t left =
        atomic_load_explicit(&all[own->number].beside, memory_order_relaxed);

    for (; left != 0; left &= left - 1) {
        struct bcs_job_slot *slot = &all[__builtin_ctzll(left)];
        uint64_t owner = owner_of(slot);

        if (owner != 0 && bcs_process_word_has_ended(owner) &&
            take_over(slot, owner, self)) {
            set_free(slot);
        }
    }
}

void bcs_jobs_sweep_in_time(const struct bcs_own_slot *own)
{
    _Atomic uint64_t *swept_ns = &own->jobs->slots[own->number].swept_ns;
    uint64_t now_ns = bcs_clock_now_ns();
    uint64_t before_ns = atomic_load_explicit(swept_ns, memory_order_relaxed);

    if (now_ns - before_ns >= SWEEP_NS &&
        atomic_compare_exchange_strong_explicit(
            swept_ns, &before_ns, now_ns, memory_order_relaxed, memory_order_relaxed)) {
        bcs_jobs_sweep(own);
    }
}

uint32_t bcs_jobs_count_beside(const struct bcs_own_slot *own)
{
    const struct bcs_job_slot *all = own->jobs->slots;
    uint64_t left =
        atomic_load_explicit(&all[own->number].beside, memory_order_relaxed);
    uint32_t n = 0;

    for (; left != 0; left &= left - 1) {
        const struct bcs_job_slot *slot = &all[__builtin_ctzll(left)];
        uint32_t n_processes =
            atomic_load_explicit(&slot->n_processes, memory_order_relaxed);
        uint32_t n_asleep = atomic_load_explicit(&slot->n_asleep, memory_order_relaxed);

        n += n_processes > n_asleep ? n_processes - n_asleep : 0;
    }
    return n;
}
