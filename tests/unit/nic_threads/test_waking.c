/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When a machine is crowded: by the ranks of this job, and by those of other jobs of
 * the same user that are awake on the same cores.
 */
#include "nic_threads/machine/waking.h"
#include "tests/unit/run_suite.h"

#include <check.h>

#include "libbcs/fabric/base/process.h"

static struct bcs_machine_jobs jobs;
static struct bcs_machine machine = {.n_cpus = 4, .n_ports = 2};
static struct nic_engine engine = {.machine = &machine, .own_slot = {.jobs = &jobs}};

/** Enter on the first processor. */
static struct bcs_own_slot enter(uint32_t n_processes)
{
    const uint64_t cpus[BCS_SLOT_CPU_WORDS] = {1};
    struct bcs_own_slot slot = {.jobs = &jobs};

    ck_assert(bcs_jobs_take(&jobs, bcs_process_word(), &slot.number));
    bcs_jobs_enter(&slot, cpus, n_processes);
    return slot;
}

static void expect(bool has_idle_core, bool is_crowded)
{
    ck_assert(nic_engine_has_idle_core(&engine) == has_idle_core);
    ck_assert(nic_engine_is_crowded(&engine) == is_crowded);
}

START_TEST(other_jobs_need_cores_too)
{
    struct bcs_own_slot other;

    engine.own_slot = enter(2);
    expect(true, false);
    other = enter(2);
    expect(false, false);
    bcs_jobs_leave(&other);
    other = enter(3);
    expect(false, true);
    bcs_jobs_tell(&other, 2);
    expect(true, false);
    machine.n_ports = 4;
    expect(false, true);
    machine.n_asleep = 2;
    expect(true, false);
    engine.own_slot = (struct bcs_own_slot){0};
    machine.n_asleep = 0;
    expect(false, false);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("waking");

    tcase_add_test(tcase, other_jobs_need_cores_too);
    return run_tcase("waking", tcase);
}
