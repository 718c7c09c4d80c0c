/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What becomes of what is open here in a forked child: all of it is told, none of it
 * stays the job's, and the child is told once that it must not use it.
 */
#include "libbcs/fabric/base/forked.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/caught_stderr.h"
#include "tests/unit/run_suite.h"

enum { N_ENTRIES = 3 };

static int n_told[N_ENTRIES];
static struct bcs_forked entries[N_ENTRIES];

static void count(void *arg)
{
    ++*(int *)arg;
}

static void watch_all(void)
{
    for (int i = 0; i < N_ENTRIES; i++) {
        entries[i] = (struct bcs_forked){.in_child = count, .arg = &n_told[i]};
        bcs_forked_watch(&entries[i]);
    }
}

/** The end of a child. @param is_right  else it ends with an error */
static void end_child(bool is_right)
{
    _exit(is_right ? EXIT_SUCCESS : EXIT_FAILURE);
}

static int status_of(pid_t child)
{
    int status = -1;

    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

START_TEST(all_that_is_open_is_told_in_the_child_once)
{
    pid_t child;

    watch_all();
    bcs_forked_unwatch(&entries[_i]); /* the first, one within, or the last */
    bcs_forked_unwatch(&entries[_i]); /* it is no longer there */
    child = fork();
    if (child == 0) {
        bool is_right = bcs_forked_is_child();

        for (int i = 0; i < N_ENTRIES; i++) {
            is_right &= n_told[i] == (i != _i);
        }
        child = fork(); /* which has nothing of its own */
        if (child == 0) {
            end_child(bcs_forked_is_child() && n_told[(_i + 1) % N_ENTRIES] == 1);
        }
        end_child(is_right && status_of(child) == EXIT_SUCCESS);
    }
    ck_assert_int_eq(status_of(child), EXIT_SUCCESS);
    ck_assert(!bcs_forked_is_child());
    ck_assert_int_eq(n_told[0] + n_told[1] + n_told[2], 0);
}
END_TEST

START_TEST(memory_that_is_taken_away_is_nobody_elses)
{
    enum { N_BYTES = 8192 };
    char *memory =
        mmap(NULL, N_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child;

    ck_assert_ptr_ne(memory, MAP_FAILED);
    memory[N_BYTES - 1] = 'a';
    child = fork();
    if (child == 0) {
        bcs_forked_take_away(memory, N_BYTES);
        if (memory[N_BYTES - 1] != '\0') {
            end_child(false);
        }
        memory[N_BYTES - 1] = 'b';
        end_child(true);
    }
    ck_assert_int_eq(status_of(child), EXIT_SUCCESS);
    ck_assert_int_eq(memory[N_BYTES - 1], 'a');
    bcs_forked_take_away(NULL, 0);
}
END_TEST

START_TEST(a_child_is_told_once_and_ended)
{
    pid_t child;

    watch_all();
    caught_stderr_begin();
    child = fork();
    if (child == 0) {
        bcs_forked_tell("one");
        bcs_forked_tell("two");
        bcs_forked_refuse("three");
        end_child(true);
    }
    ck_assert_int_eq(status_of(child), EXIT_FAILURE);
    ck_assert_ptr_nonnull(strstr(caught_stderr_next(), "one: called by process"));
    ck_assert_str_eq(caught_stderr_next(), "");
    caught_stderr_end();
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("forked_base");

    tcase_add_loop_test(tcase, all_that_is_open_is_told_in_the_child_once, 0,
                        N_ENTRIES);
    tcase_add_test(tcase, memory_that_is_taken_away_is_nobody_elses);
    tcase_add_test(tcase, a_child_is_told_once_and_ended);
    return run_tcase("forked_base", tcase);
}
