/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What overhead_measure reads from /proc/stat: of all CPUs together, not of the last
 * one, and 0 where the kernel does not tell it.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "apps/overhead/measure/counters.h"
#include "tests/unit/run_suite.h"

/* The eighth number of a line of a CPU is the steal time. */
static const char TWO_CPUS[] = "cpu  110 120 130 140 150 160 170 180 190 200\n"
                               "cpu0 11 12 13 14 15 16 17 18 19 20\n"
                               "cpu1 21 22 23 24 25 26 27 28 29 30\n"
                               "intr 12345 1 2 3\n"
                               "ctxt 678\n"
                               "ctxt 1\n";

static void text_parse(const char *text, long counters[N_MACHINE_COUNTERS])
{
    FILE *file = fmemopen((char *)text, strlen(text), "r");

    ck_assert_ptr_nonnull(file);
    memset(counters, 0xff, N_MACHINE_COUNTERS * sizeof *counters);
    machine_counters_parse(file, counters);
    fclose(file);
}

START_TEST(stolen_time_is_that_of_all_cpus)
{
    long counters[N_MACHINE_COUNTERS];

    text_parse(TWO_CPUS, counters);
    ck_assert_int_eq(counters[MACHINE_STOLEN], 180);
    ck_assert_int_eq(counters[MACHINE_INTERRUPTS], 12345);
    ck_assert_int_eq(counters[MACHINE_SWITCHES], 678);
}
END_TEST

START_TEST(what_is_not_told_is_zero)
{
    long counters[N_MACHINE_COUNTERS];

    text_parse("cpu  1 2 3 4\ncpu0 1 2 3 4 5 6 7 8 9 10\nctxt 5\n", counters);
    ck_assert_int_eq(counters[MACHINE_STOLEN], 0);
    ck_assert_int_eq(counters[MACHINE_INTERRUPTS], 0);
    ck_assert_int_eq(counters[MACHINE_SWITCHES], 5);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("overhead_counters");

    tcase_add_test(tcase, stolen_time_is_that_of_all_cpus);
    tcase_add_test(tcase, what_is_not_told_is_zero);
    return run_tcase("overhead_counters", tcase);
}
