/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How busy the machine is, from two looks at what the kernel counts.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "apps/tools/top/machine.h"
#include "tests/unit/run_suite.h"

static double busy(uint64_t passed_before, uint64_t busy_before, uint64_t passed,
                   uint64_t busy_now)
{
    const struct machine_look before = {.passed = passed_before, .busy = busy_before};
    const struct machine_look now = {.passed = passed, .busy = busy_now};

    return machine_busy(&before, &now);
}

START_TEST(the_share_is_of_what_has_passed)
{
    ck_assert_double_eq(busy(100, 40, 300, 90), 0.25);
    ck_assert_double_eq(busy(100, 40, 300, 40), 0);
}
END_TEST

START_TEST(what_cannot_be_known_is_not_told)
{
    ck_assert_double_eq(busy(0, 0, 300, 90), -1);
    ck_assert_double_eq(busy(300, 90, 300, 90), -1);
    ck_assert_double_eq(busy(300, 90, 200, 95), -1);
    ck_assert_double_eq(busy(100, 90, 200, 80), -1); /* a core has been taken away */
}
END_TEST

START_TEST(idle_time_is_what_the_kernel_says)
{
    struct machine_look look = machine_look();
    uint64_t ticks[5];
    double idle;
    FILE *file = fopen("/proc/stat", "re");

    ck_assert_int_eq(fscanf(file, "cpu"), 0);
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(fscanf(file, " %" SCNu64, &ticks[i]), 1);
    }
    fclose(file);
    idle = (double)(ticks[3] + ticks[4]);
    ck_assert_double_le((double)(look.passed - look.busy), idle * 1.1 + 100);
    ck_assert_double_ge((double)(look.passed - look.busy), idle * 0.9 - 100);
    ck_assert_uint_eq(look.n_cores, (unsigned)sysconf(_SC_NPROCESSORS_ONLN));
    ck_assert_double_ge(look.load[0], 0);
    ck_assert_double_ge(look.load[2], 0);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("machine");

    tcase_add_test(tcase, the_share_is_of_what_has_passed);
    tcase_add_test(tcase, what_cannot_be_known_is_not_told);
    tcase_add_test(tcase, idle_time_is_what_the_kernel_says);
    return run_tcase("machine", tcase);
}
