/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process that cannot go on says why, and ends at once, with status 1.
 */
#include "libbcs/fabric/base/fatal.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/caught_stderr.h"
#include "tests/unit/run_suite.h"

enum { STATUS_OF_HANDLER = 7 };

static void handler(void)
{
    _exit(STATUS_OF_HANDLER);
}

START_TEST(the_end_is_told_and_no_exit_handler_runs)
{
    int status;
    pid_t pid;

    caught_stderr_begin();
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        atexit(handler);
        bcs_fatal("%d is too many", 3);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_ptr_nonnull(strstr(caught_stderr_next(), "3 is too many\n"));
    ck_assert_str_eq(caught_stderr_next(), "");
    caught_stderr_end();
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), EXIT_FAILURE);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("fatal");

    tcase_add_test(tcase, the_end_is_told_and_no_exit_handler_runs);
    return run_tcase("fatal", tcase);
}
