/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the kernel says of processes and threads, against what it says by its calls.
 */
#include "libbcs/fabric/base/kernel_stat.h"

#include <check.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/run_suite.h"

START_TEST(a_process_is_as_its_calls_say)
{
    struct bcs_kernel_stat stat, thread;
    uint64_t tick_us = 1000000 / (uint64_t)sysconf(_SC_CLK_TCK), user_us;
    struct rusage usage;

    do {
        getrusage(RUSAGE_SELF, &usage);
        user_us = (uint64_t)usage.ru_utime.tv_sec * 1000000 +
                  (uint64_t)usage.ru_utime.tv_usec;
    } while (user_us < 3 * tick_us);
    ck_assert(bcs_kernel_stat_process(getpid(), &stat));
    ck_assert_int_eq(stat.state, 'R');
    ck_assert_int_eq(stat.parent, getppid());
    ck_assert_int_eq(stat.n_threads, 1);
    ck_assert_uint_ge(stat.user_time + stat.system_time, 2);
    ck_assert_uint_gt(stat.start_time, 0);
    ck_assert_int_ge(stat.core, 0);
    ck_assert_int_lt(stat.core, sysconf(_SC_NPROCESSORS_CONF));
    ck_assert(bcs_kernel_stat_thread(gettid(), &thread));
    ck_assert_uint_eq(thread.start_time, stat.start_time);
}
END_TEST

START_TEST(the_core_is_the_one_it_runs_on)
{
    cpu_set_t all, one;

    ck_assert_int_eq(sched_getaffinity(0, sizeof(all), &all), 0);
    for (int core = 0; core < CPU_SETSIZE; core++) {
        struct bcs_kernel_stat stat;

        if (!CPU_ISSET(core, &all)) {
            continue;
        }
        CPU_ZERO(&one);
        CPU_SET(core, &one);
        ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
        ck_assert(bcs_kernel_stat_process(getpid(), &stat));
        ck_assert_int_eq(stat.core, core);
    }
}
END_TEST

START_TEST(a_name_may_look_like_fields)
{
    struct bcs_kernel_stat stat;

    ck_assert_int_eq(prctl(PR_SET_NAME, "a) Z 1 2 (b) T"), 0);
    ck_assert(bcs_kernel_stat_process(getpid(), &stat));
    ck_assert_int_eq(stat.state, 'R');
    ck_assert_int_eq(stat.parent, getppid());
}
END_TEST

START_TEST(one_that_has_ended_is_a_zombie_and_then_nothing)
{
    struct bcs_kernel_stat stat;
    pid_t pid = fork();

    if (pid == 0) {
        _exit(0);
    }
    ck_assert_int_eq(waitid(P_PID, (id_t)pid, NULL, WEXITED | WNOWAIT), 0);
    ck_assert(bcs_kernel_stat_process(pid, &stat));
    ck_assert_int_eq(stat.state, 'Z');
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    ck_assert(!bcs_kernel_stat_process(pid, &stat));
    ck_assert(!bcs_kernel_stat_thread(pid, &stat));
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("kernel_stat");

    tcase_add_test(tcase, a_process_is_as_its_calls_say);
    tcase_add_test(tcase, the_core_is_the_one_it_runs_on);
    tcase_add_test(tcase, a_name_may_look_like_fields);
    tcase_add_test(tcase, one_that_has_ended_is_a_zombie_and_then_nothing);
    return run_tcase("kernel_stat", tcase);
}
