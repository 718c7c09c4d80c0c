/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tool that runs unseen: how it ends, which signals it gets, where it writes, and
 * that the program hears nothing of it.
 */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "libbcs/report/run_unseen.h"
#include "tests/unit/caught_stderr.h"
#include "tests/unit/run_suite.h"

static volatile sig_atomic_t n_children_told;

static void count(int signal)
{
    (void)signal;
    n_children_told++;
}

/** Run a line of the shell. @return how it has ended, as waitpid tells it */
static int run(const char *line)
{
    char shell[] = "sh", option[] = "-c", text[128], path[] = "PATH=/usr/bin:/bin";
    char *arguments[] = {shell, option, text, NULL}, *environment[] = {path, NULL};
    int status = -1;

    ck_assert_uint_lt(strlen(line), sizeof(text));
    strcpy(text, line);
    ck_assert_int_eq(bcs_run_unseen(arguments, environment, &status), 0);
    return status;
}

START_TEST(a_tool_ends_as_it_wants_and_the_program_has_no_child)
{
    int status;

    signal(SIGCHLD, count);
    status = run("exit 3");
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 3);
    ck_assert_int_eq(n_children_told, 0);
    ck_assert_int_eq(waitpid(-1, &status, WNOHANG), -1);
    ck_assert_int_eq(errno, ECHILD);
}
END_TEST

START_TEST(a_tool_gets_the_signals_that_the_program_gets)
{
    sigset_t blocked, after;
    int status;

    signal(SIGUSR2, SIG_DFL); /* whatever who has started the test does with it */
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    pthread_sigmask(SIG_SETMASK, &blocked, NULL);
    status = run("kill -USR1 $$; kill -USR2 $$; exit 4");
    ck_assert(WIFSIGNALED(status));
    ck_assert_int_eq(WTERMSIG(status), SIGUSR2);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    for (int i = 1; i < SIGRTMIN; i++) {
        ck_assert_int_eq(sigismember(&after, i), i == SIGUSR1);
    }
}
END_TEST

START_TEST(a_tool_writes_to_standard_error)
{
    caught_stderr_begin();
    run("echo said");
    ck_assert_str_eq(caught_stderr_next(), "said\n");
    caught_stderr_end();
}
END_TEST

START_TEST(a_tool_that_is_not_there_has_not_run)
{
    char name[] = "/nowhere/tool", *arguments[] = {name, NULL}, *environment[] = {NULL};
    int status = -1;

    ck_assert_int_eq(bcs_run_unseen(arguments, environment, &status), ENOENT);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("run_unseen");

    tcase_add_test(tests, a_tool_ends_as_it_wants_and_the_program_has_no_child);
    tcase_add_test(tests, a_tool_gets_the_signals_that_the_program_gets);
    tcase_add_test(tests, a_tool_writes_to_standard_error);
    tcase_add_test(tests, a_tool_that_is_not_there_has_not_run);
    return run_tcase("run_unseen", tests);
}
