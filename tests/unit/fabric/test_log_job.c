/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all processes of a job say at once is one line, and what only one says is not
 * lost. The processes are forked here, and the launcher's folder is ours.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libbcs/fabric/base/log_job.h"
#include "tests/unit/run_suite.h"

enum { N_PROCESSES = 20 };

static char folder[] = "/tmp/bcs-log-job-XXXXXX";

static void setup(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    setenv("PMIX_SERVER_TMPDIR", folder, 1);
    setenv("PMIX_NAMESPACE", "job", 1);
}

static void teardown(void)
{
    char command[64];

    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
    strcpy(folder, "/tmp/bcs-log-job-XXXXXX");
}

/* What N_PROCESSES processes print that do the same at the same time. */
static const char *output_of(void (*say)(int process))
{
    static char text[4096];
    size_t n_bytes = 0;
    ssize_t n;
    int ends[2];

    ck_assert_int_eq(pipe(ends), 0);
    for (int i = 0; i < N_PROCESSES; i++) {
        if (fork() == 0) {
            dup2(ends[1], STDERR_FILENO);
            say(i);
            _exit(0);
        }
    }
    close(ends[1]);
    while ((n = read(ends[0], text + n_bytes, sizeof text - 1 - n_bytes)) > 0) {
        n_bytes += (size_t)n;
    }
    close(ends[0]);
    while (wait(NULL) > 0) {
    }
    text[n_bytes] = '\0';
    return text;
}

static int lines_of(const char *text, const char *line)
{
    int n_lines = 0;

    while ((text = strstr(text, line)) != NULL) {
        n_lines++;
        text += strlen(line);
    }
    return n_lines;
}

static void say_the_same(int process)
{
    bcs_job_error("all of %d", N_PROCESSES);
    if (process == 3) {
        bcs_job_error("process %d alone", process);
    }
}

START_TEST(one_process_says_what_all_have_to_say)
{
    const char *text = output_of(say_the_same);

    ck_assert_int_eq(lines_of(text, "bcs: all of 20\n"), 1);
    ck_assert_int_eq(lines_of(text, "bcs: process 3 alone\n"), 1);
    ck_assert_int_eq(lines_of(text, "\n"), 2);
    ck_assert_int_eq(lines_of(output_of(say_the_same), "\n"), 0);
    setenv("PMIX_NAMESPACE", "another job", 1);
    ck_assert_int_eq(lines_of(output_of(say_the_same), "\n"), 2);
}
END_TEST

static void say_outside(int process)
{
    unsetenv("PMIX_SERVER_TMPDIR");
    say_the_same(process);
}

static void say_without_room(int process)
{
    setenv("PMIX_SERVER_TMPDIR", "/nowhere", 1);
    say_the_same(process);
}

START_TEST(without_a_folder_each_says_it)
{
    ck_assert_int_eq(lines_of(output_of(say_outside), "bcs: all of 20\n"), N_PROCESSES);
    ck_assert_int_eq(lines_of(output_of(say_without_room), "bcs: all of 20\n"),
                     N_PROCESSES);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("log_job");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, one_process_says_what_all_have_to_say);
    tcase_add_test(tcase, without_a_folder_each_says_it);
    return run_tcase("log_job", tcase);
}
