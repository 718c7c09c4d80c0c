/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which cores are lent, and that a thread which goes to one may run on all others as
 * before.
 */
#include "nic_threads/machine/cores.h"

#include <check.h>
#include <sched.h>

#include "tests/unit/run_suite.h"

static struct bcs_machine machine;

static cpu_set_t allowed(void)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    ck_assert_int_eq(sched_getaffinity(0, sizeof(set), &set), 0);
    return set;
}

/** Stay on the core that this thread is on. @return its number */
static int stay(void)
{
    int cpu = sched_getcpu();
    cpu_set_t here;

    ck_assert_int_ge(cpu, 0);
    CPU_ZERO(&here);
    CPU_SET(cpu, &here);
    ck_assert_int_eq(sched_setaffinity(0, sizeof(here), &here), 0);
    return cpu;
}

START_TEST(a_core_is_lent_until_it_is_taken_back)
{
    const uint64_t another = UINT64_C(1) << (BCS_LENT_CPUS - 1);
    int cpu = stay();
    uint64_t lent = nic_cores_lend(&machine);

    ck_assert_uint_eq(lent, cpu < BCS_LENT_CPUS - 1 ? UINT64_C(1) << cpu : lent);
    ck_assert_uint_eq(machine.lent_cpus, lent);
    atomic_fetch_or(&machine.lent_cpus, another);
    nic_cores_take_back(&machine, 0);
    ck_assert_uint_eq(machine.lent_cpus, lent | another);
    nic_cores_take_back(&machine, lent);
    ck_assert_uint_eq(machine.lent_cpus, lent == another ? 0 : another);
}
END_TEST

START_TEST(who_goes_to_a_lent_core_may_run_on_all_later)
{
    cpu_set_t before = allowed(), after, both;
    int cpu = stay();

    atomic_store(&machine.lent_cpus, UINT64_C(1) << (cpu == 0));
    nic_cores_go_to_lent(&machine);
    after = allowed();
    CPU_AND(&both, &before, &after);
    ck_assert(CPU_EQUAL(&before, &both) || cpu >= BCS_LENT_CPUS);
}
END_TEST

START_TEST(who_is_on_a_lent_core_or_finds_none_stays)
{
    cpu_set_t here, after;
    int cpu = stay();

    here = allowed();
    nic_cores_go_to_lent(&machine);
    after = allowed();
    ck_assert(CPU_EQUAL(&here, &after));
    if (cpu < BCS_LENT_CPUS) {
        atomic_store(&machine.lent_cpus, UINT64_C(1) << cpu);
        nic_cores_go_to_lent(&machine);
        after = allowed();
        ck_assert(CPU_EQUAL(&here, &after));
    }
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("cores");

    tcase_add_test(tcase, a_core_is_lent_until_it_is_taken_back);
    tcase_add_test(tcase, who_goes_to_a_lent_core_may_run_on_all_later);
    tcase_add_test(tcase, who_is_on_a_lent_core_or_finds_none_stays);
    return run_tcase("cores", tcase);
}
