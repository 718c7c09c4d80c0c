/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is asked of the system about other processes: whether one lives, and a barrier
 * for all. The call of the system is the test's own, which notes what is asked.
 */
#include "libbcs/fabric/base/process.h"

#include <check.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libbcs/fabric/base/barrier.h"
#include "tests/unit/run_suite.h"

static long barrier_command,
    error; /* the last barrier, and what is to come of a call */
static int n_barriers;

long syscall(long number, ...) // NOLINT
{
    long (*next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    va_list list;
    long first, second;

    va_start(list, number);
    first = va_arg(list, long);
    second = va_arg(list, long);
    va_end(list);
    if (number == SYS_membarrier) {
        barrier_command = (int)first;
        n_barriers++;
    }
    if (error != 0) {
        errno = (int)error;
        return -1;
    }
    return next(number, first, second, 0L);
}

START_TEST(a_barrier_is_for_all_who_have_joined)
{
    ck_assert_int_eq(bcs_barrier_join(), 0);
    ck_assert_int_eq(barrier_command, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED);
    bcs_barrier_all();
    ck_assert_int_eq(barrier_command, MEMBARRIER_CMD_GLOBAL_EXPEDITED);
    ck_assert_int_eq(n_barriers, 2);
}
END_TEST

START_TEST(a_kernel_without_barriers_is_told)
{
    error = EINVAL;
    ck_assert_int_eq(bcs_barrier_join(), -ENOSYS);
}
END_TEST

static int n_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int n = 0;

    while (readdir(folder) != NULL) {
        n++;
    }
    closedir(folder);
    return n;
}

START_TEST(a_process_lives_until_it_has_ended)
{
    int to_child[2], n_before = n_descriptors();
    char byte;
    pid_t child;

    ck_assert_int_eq(pipe(to_child), 0);
    child = fork();
    if (child == 0) {
        close(to_child[1]);
        _exit((int)read(to_child[0], &byte, 1)); /* until the parent closes it */
    }
    close(to_child[0]);
    ck_assert(!bcs_process_has_ended((uint64_t)getpid()));
    ck_assert(!bcs_process_has_ended((uint64_t)child));
    close(to_child[1]);
    while (!bcs_process_has_ended(
        (uint64_t)child)) { /* also if nobody has waited for it */
    }
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    ck_assert(bcs_process_has_ended((uint64_t)child));
    ck_assert_int_eq(n_descriptors(), n_before);
}
END_TEST

START_TEST(a_process_that_cannot_be_asked_about_lives)
{
    error = EMFILE;
    ck_assert(!bcs_process_has_ended((uint64_t)getpid()));
    error = ESRCH;
    ck_assert(bcs_process_has_ended((uint64_t)getpid()));
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("process");

    tcase_add_test(tcase, a_barrier_is_for_all_who_have_joined);
    tcase_add_test(tcase, a_kernel_without_barriers_is_told);
    tcase_add_test(tcase, a_process_lives_until_it_has_ended);
    tcase_add_test(tcase, a_process_that_cannot_be_asked_about_lives);
    return run_tcase("process", tcase);
}
