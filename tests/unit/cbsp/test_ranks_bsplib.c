/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several BSPlib processes in one process of the system: a thread is each of them in
 * turn, with cbsp_self and bsplib_self set to each. As every one is a job of its own,
 * none waits.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/bsplib/bsplib.h"
#include "libbcs/cbsp/cbsp_job_state.h"
#include "tests/unit/ranks.h"
#include "tests/unit/run_suite.h"

enum { N_JOBS = 3, N_SUPERSTEPS = 20 };

/** One process, with what its program has. */
struct process {
    struct ranks_job job;
    struct ranks_rank rank;
    struct cbsp *cbsp;
    struct bsplib *bsp;
    int words[8];
};

static void enter(const struct process *process)
{
    cbsp_self = process->cbsp;
    bsplib_self = process->bsp;
}

static void begin(struct process *process)
{
    ranks_init(&process->job, &process->rank, 1, 0);
    ck_assert_int_eq(cbsp_join(&process->rank.entry, &cbsp_self), 0);
    bsplib_self = bsplib_create("a test");
    bsp_begin(7); /* there are not so many */
    ck_assert_int_eq(bsp_nprocs(), 1);
    process->cbsp = cbsp_self;
    process->bsp = bsplib_self;
}

/** Tags of another size in each, and memory that only it has registered. */
static void set_up(struct process *process, int number)
{
    int n_tag = number + 1;

    bsp_set_tagsize(&n_tag);
    ck_assert_int_eq(n_tag, 0);
    bsp_push_reg(process->words, (int)sizeof(process->words));
}

/** What process `number` puts and sends in a superstep. */
static void compute(struct process *process, int number, int step)
{
    int value = 100 * number + step;
    char tag[N_JOBS + 1];

    memset(tag, 'a' + number, sizeof(tag));
    bsp_put(0, &value, process->words, (int)sizeof(value), (int)sizeof(value));
    for (int i = 0; i <= number; i++) {
        bsp_send(0, tag, &value, (int)sizeof(value));
    }
}

static void check(const struct process *process, int number, int step)
{
    int value = 100 * number + step, got = -1, n_messages, n_bytes, status;
    char tag[N_JOBS + 1] = {0};

    ck_assert_int_eq(process->words[1], value);
    bsp_qsize(&n_messages, &n_bytes);
    ck_assert_int_eq(n_messages, number + 1);
    bsp_get_tag(&status, tag);
    ck_assert_int_eq(status, (int)sizeof(value));
    ck_assert_uint_eq(strlen(tag), (size_t)number + 1);
    ck_assert_int_eq(tag[number], 'a' + number);
    bsp_move(&got, (int)sizeof(got));
    ck_assert_int_eq(got, value);
}

static void end(struct process *process)
{
    bsp_end();
    ck_assert_ptr_null(cbsp_self);
    ck_assert_int_eq(process->bsp->phase, BSPLIB_OVER);
    ranks_fini(&process->job);
}

START_TEST(one_thread_is_each_process_in_turn)
{
    static struct process processes[N_JOBS];

    for (int i = 0; i < N_JOBS; i++) {
        begin(&processes[i]);
    }
    for (int i = 0; i < N_JOBS; i++) {
        enter(&processes[i]);
        set_up(&processes[i], i);
        bsp_sync();
    }
    for (int step = 0; step < N_SUPERSTEPS; step++) {
        for (int i = 0; i < N_JOBS; i++) {
            enter(&processes[i]);
            compute(&processes[i], i, step);
        }
        for (int i = N_JOBS - 1; i >= 0; i--) {
            enter(&processes[i]);
            bsp_sync();
        }
        for (int i = 0; i < N_JOBS; i++) {
            enter(&processes[i]);
            check(&processes[i], i, step);
        }
    }
    for (int i = 0; i < N_JOBS; i++) {
        enter(&processes[i]);
        end(&processes[i]);
    }
}
END_TEST

/* Each of these ends the process, with the status that the test expects. */
START_TEST(an_abort_ends_the_process_as_failed)
{
    bsp_abort("a test aborts\n");
}
END_TEST

START_TEST(an_error_of_cbsp_ends_the_process)
{
    bsplib_require("a test", -ENOMEM);
}
END_TEST

START_TEST(a_call_after_the_end_ends_the_process)
{
    static struct process process;

    begin(&process);
    bsp_end();
    bsp_time();
}
END_TEST

START_TEST(a_second_begin_ends_the_process)
{
    static struct process process;

    begin(&process);
    bsp_begin(1);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("ranks_bsplib");

    tcase_add_test(tests, one_thread_is_each_process_in_turn);
    tcase_add_exit_test(tests, an_abort_ends_the_process_as_failed, EXIT_FAILURE);
    tcase_add_exit_test(tests, an_error_of_cbsp_ends_the_process, EXIT_FAILURE);
    tcase_add_exit_test(tests, a_call_after_the_end_ends_the_process, EXIT_FAILURE);
    tcase_add_exit_test(tests, a_second_begin_ends_the_process, EXIT_FAILURE);
    return run_tcase("ranks_bsplib", tests);
}
