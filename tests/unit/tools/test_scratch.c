/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The job's folder: what a dead job leaves is removed, and nothing else is, whatever it
 * is called. All folders are in one of the test's own, which TMPDIR names.
 */
#include <check.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/tools/launch/scratch.h"
#include "tests/unit/run_suite.h"

static char base[] = "/tmp/scratch-test.XXXXXX";

static void base_make(void)
{
    strcpy(base + strlen(base) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(base));
    setenv("TMPDIR", base, 1);
}

/* Run a command of the shell in the base. */
static void shell(const char *command)
{
    char line[PATH_MAX];

    snprintf(line, sizeof line, "cd %s && %s", base, command);
    ck_assert_int_eq(system(line), 0);
}

static void base_remove(void)
{
    shell("rm -rf \"$TMPDIR\"");
}

static bool is_there(const char *folder, const char *name)
{
    char path[PATH_MAX + 64];
    struct stat status;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return lstat(path, &status) == 0;
}

/* Make a job's folder, which the shell knows as FOLDER, and the one in it as FILES. */
static struct scratch make_folder(void)
{
    struct scratch scratch;

    ck_assert_int_eq(scratch_make(base, &scratch), 0);
    setenv("FOLDER", scratch.folder, 1);
    setenv("FILES", scratch.path, 1);
    return scratch;
}

/* A folder with files, as a job leaves it that was killed with all its processes. */
static struct scratch dead_folder(void)
{
    struct scratch scratch = make_folder();

    shell("mkdir -p $FILES/a/b && echo x > $FILES/a/b/file");
    close(scratch.fd);
    return scratch;
}

START_TEST(the_folder_of_a_dead_job_is_removed)
{
    struct scratch scratch = dead_folder();

    ck_assert(is_there(scratch.path, "a/b/file"));
    scratch_sweep();
    ck_assert(!is_there(scratch.folder, ""));
}
END_TEST

START_TEST(the_folder_of_a_job_that_runs_stays)
{
    struct scratch scratch = make_folder();

    scratch_sweep();
    ck_assert(is_there(scratch.path, ""));
    scratch_remove(&scratch);
    ck_assert(!is_there(scratch.folder, ""));
}
END_TEST

START_TEST(a_process_of_the_job_keeps_the_folder)
{
    struct scratch scratch = make_folder();
    int ends[2];
    pid_t child;

    ck_assert_int_eq(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        char byte;

        close(ends[1]);
        _exit((int)read(ends[0], &byte, 1));
    }
    close(scratch.fd);
    scratch_sweep();
    ck_assert(is_there(scratch.path, ""));
    close(ends[1]);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    scratch_sweep();
    ck_assert(!is_there(scratch.folder, ""));
}
END_TEST

START_TEST(a_folder_without_a_mark_stays)
{
    shell(
        "mkdir -p bcsrun-output/mpi bcsrun-empty1 && echo x > bcsrun-output/mpi/data");
    scratch_sweep();
    ck_assert(is_there(base, "bcsrun-output/mpi/data"));
    ck_assert(is_there(base, "bcsrun-empty1"));
}
END_TEST

START_TEST(a_copy_stays)
{
    struct scratch scratch = dead_folder();

    shell("cp -a $FOLDER bcsrun-copied");
    /* A copy in its place, under its name. */
    shell("mv $FOLDER aside && cp -a aside $FOLDER");
    scratch_sweep();
    ck_assert(is_there(base, "bcsrun-copied/mpi/a/b/file"));
    ck_assert(is_there(scratch.path, "a/b/file"));
    ck_assert(is_there(base, "aside/mpi/a/b/file"));
}
END_TEST

START_TEST(a_folder_that_was_renamed_stays)
{
    dead_folder();
    shell("mv $FOLDER bcsrun-master");
    scratch_sweep();
    ck_assert(is_there(base, "bcsrun-master/mpi/a/b/file"));
}
END_TEST

START_TEST(a_mark_of_somebody_elses_making_is_none)
{
    shell("mkdir -p bcsrun-fifo01/mpi bcsrun-empty2/mpi bcsrun-links1/mpi real");
    shell("mkfifo bcsrun-fifo01/bcsrun-mark && : > bcsrun-empty2/bcsrun-mark");
    shell("ln -s ../real bcsrun-links1/bcsrun-mark && ln -s real bcsrun-symlnk");
    scratch_sweep();
    ck_assert(is_there(base, "bcsrun-fifo01/mpi"));
    ck_assert(is_there(base, "bcsrun-empty2/mpi"));
    ck_assert(is_there(base, "bcsrun-links1/mpi"));
    ck_assert(is_there(base, "bcsrun-symlnk"));
}
END_TEST

START_TEST(what_a_user_has_put_beside_stays)
{
    struct scratch scratch = dead_folder();

    shell("echo x > $FOLDER/notes");
    scratch_sweep();
    ck_assert(is_there(scratch.folder, "notes"));
    ck_assert(!is_there(scratch.path, ""));
    ck_assert(!is_there(scratch.folder, "bcsrun-mark"));
    scratch_sweep();
    ck_assert(is_there(scratch.folder, "notes"));
}
END_TEST

START_TEST(what_a_link_leads_to_stays)
{
    struct scratch scratch = dead_folder();

    shell("mkdir precious && echo x > precious/data");
    shell("ln -s $TMPDIR/precious $FILES/link");
    scratch_sweep();
    ck_assert(!is_there(scratch.folder, ""));
    ck_assert(is_there(base, "precious/data"));
}
END_TEST

START_TEST(at_its_end_a_job_removes_no_folder_in_its_place)
{
    struct scratch scratch = make_folder();

    shell("mv $FOLDER aside && mkdir -p $FILES && echo x > $FILES/data");
    scratch_remove(&scratch);
    ck_assert(is_there(scratch.path, "data"));
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("scratch");

    tcase_add_checked_fixture(tests, base_make, base_remove);
    tcase_add_test(tests, the_folder_of_a_dead_job_is_removed);
    tcase_add_test(tests, the_folder_of_a_job_that_runs_stays);
    tcase_add_test(tests, a_process_of_the_job_keeps_the_folder);
    tcase_add_test(tests, a_folder_without_a_mark_stays);
    tcase_add_test(tests, a_copy_stays);
    tcase_add_test(tests, a_folder_that_was_renamed_stays);
    tcase_add_test(tests, a_mark_of_somebody_elses_making_is_none);
    tcase_add_test(tests, what_a_user_has_put_beside_stays);
    tcase_add_test(tests, what_a_link_leads_to_stays);
    tcase_add_test(tests, at_its_end_a_job_removes_no_folder_in_its_place);
    return run_tcase("scratch", tests);
}
