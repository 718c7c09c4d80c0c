/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What /proc tells of a process's command and map: of the own user's, and, for root, of
 * another user's.
 */
#include "apps/tools/top/process_text.h"

#include <check.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/run_suite.h"

/** What the test asks of a process that runs this program. */
static void assert_told(pid_t pid)
{
    char command[256], brief[5], own[PATH_MAX] = "", *file;

    ck_assert_int_gt(readlink("/proc/self/exe", own, sizeof(own) - 1), 0);
    process_text_command(pid, command, sizeof(command));
    ck_assert_ptr_nonnull(strstr(command, "test_process_text"));
    process_text_command(pid, brief, sizeof(brief));
    ck_assert_uint_eq(strlen(brief), 4);
    file = process_text_file(pid, (uint64_t)(uintptr_t)&assert_told);
    ck_assert_ptr_nonnull(file);
    ck_assert_str_eq(file, own);
    free(file);
    ck_assert_ptr_null(process_text_file(pid, 16));
}

START_TEST(of_this_process)
{
    assert_told(getpid());
}
END_TEST

START_TEST(all_words_of_a_command)
{
    char command[256];
    int begun[2], end[2];
    pid_t pid;

    ck_assert_int_eq(pipe2(begun, O_CLOEXEC), 0);
    ck_assert_int_eq(pipe2(end, O_CLOEXEC), 0);
    pid = fork();
    if (pid == 0) {
        dup2(end[0], STDIN_FILENO);
        execl("/bin/cat", "cat", "-u", "-", (char *)NULL);
        _exit(1);
    }
    close(begun[1]);
    ck_assert_int_eq(read(begun[0], command, 1), 0); /* closed by the exec */
    process_text_command(pid, command, sizeof(command));
    ck_assert_str_eq(command, "cat -u -");
    kill(pid, SIGKILL);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    close(begun[0]);
    close(end[0]);
    close(end[1]);
}
END_TEST

START_TEST(of_another_users_process)
{
    int ends[2];
    char byte;
    pid_t pid;

    if (geteuid() != 0) {
        return;
    }
    ck_assert_int_eq(pipe(ends), 0);
    pid = fork();
    if (pid == 0) {
        _exit(setuid(65534) != 0 || write(ends[1], "!", 1) != 1 || pause());
    }
    ck_assert_int_eq(read(ends[0], &byte, 1), 1);
    assert_told(pid);
    kill(pid, SIGKILL);
    ck_assert_int_eq(waitpid(-1, NULL, 0), pid);
    ck_assert_int_eq(waitpid(-1, NULL, 0), -1); /* no reader is left */
    process_text_command(pid, &byte, 1);
    ck_assert_int_eq(byte, '\0');
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("process_text");

    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, of_this_process);
    tcase_add_test(tcase, all_words_of_a_command);
    tcase_add_test(tcase, of_another_users_process);
    return run_tcase("process_text", tcase);
}
