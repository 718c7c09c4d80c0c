/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the processes of a job meet, as threads: what each finds out, and whose error
 * ends it.
 */
#include <check.h>
#include <errno.h>
#include <unistd.h>

#include "libbcs/fabric/base/log.h"
#include "libbcs/session/meeting.h"
#include "tests/unit/caught_stderr.h"
#include "tests/unit/ranks.h"
#include "tests/unit/run_suite.h"

enum { N = 3, NODE_RANKS = 2, MACHINE_BYTES = 100 };

static struct ranks_job job;
static struct ranks_rank ranks[N];
static int errors[N], results[N];
static struct bcs_meeting meetings[N];

static void set_up(void)
{
    ranks_init(&job, ranks, N, 0);
    for (int i = 0; i < N; i++) {
        errors[i] = 0;
        results[i] = -1;
        meetings[i] = (struct bcs_meeting){0};
    }
}

static void tear_down(void)
{
    for (int i = 0; i < N; i++) {
        bcs_part(&meetings[i]);
    }
    ranks_fini(&job);
}

static void meet(struct ranks_rank *rank)
{
    uint32_t i = rank->entry.bootstrap.rank;

    results[i] = bcs_meet(&rank->entry.bootstrap,
                          &(struct bcs_meeting_params){
                              .n_machine_bytes = i == 0 ? MACHINE_BYTES : 0,
                              .heap_bytes = 65536,
                              .node_ranks = NODE_RANKS,
                              .error = errors[i],
                              .config = &rank->entry.settings.nic,
                          },
                          &meetings[i]);
}

static void all_get(int result)
{
    ranks_run(ranks, N, meet);
    for (int i = 0; i < N; i++) {
        ck_assert_int_eq(results[i], result);
    }
}

START_TEST(all_share_the_machines_memory)
{
    all_get(0);
    for (int i = 0; i < N; i++) {
        ck_assert_uint_eq(meetings[i].n_nodes, 2);
        ck_assert_uint_eq(meetings[i].n_processes, N);
        ck_assert_uint_eq(meetings[i].first, 0);
        ck_assert_uint_ge(meetings[i].machine.n_bytes, MACHINE_BYTES);
        ck_assert_uint_eq(meetings[i].machine.inode, meetings[0].machine.inode);
        ((char *)meetings[i].machine.base)[i] = (char)('a' + i);
    }
    ck_assert_mem_eq(meetings[0].machine.base, "abc", N);
    ck_assert(meetings[0].machine.fd >= 0); /* by it the job is looked at */
    ck_assert_int_lt(meetings[1].machine.fd, 0);
}
END_TEST

START_TEST(they_copy_each_others_memory_if_they_may)
{
    all_get(0);
    for (int i = 0; i < N; i++) {
        ck_assert(meetings[i].is_direct);
    }
}
END_TEST

START_TEST(they_do_not_if_they_shall_not)
{
    for (int i = 0; i < N; i++) {
        ranks[i].entry.settings.nic.copy = NIC_COPY_POOLED;
    }
    all_get(0);
    for (int i = 0; i < N; i++) {
        ck_assert(!meetings[i].is_direct);
    }
}
END_TEST

START_TEST(the_error_of_one_ends_it_for_all)
{
    errors[2] = -E2BIG;
    all_get(-E2BIG);
}
END_TEST

START_TEST(of_several_errors_the_first_ones_counts)
{
    errors[1] = -ENOMEM;
    errors[2] = -E2BIG;
    all_get(-ENOMEM);
}
END_TEST

START_TEST(other_settings_of_the_last_are_found)
{
    ranks[N - 1].entry.settings.nic.slice_ns++;
    caught_stderr_begin();
    all_get(-EINVAL);
    ck_assert_ptr_nonnull(strstr(caught_stderr_next(), "rank 2 has other settings"));
    caught_stderr_end();
}
END_TEST

static void meet_again(struct ranks_rank *rank)
{
    uint32_t i = rank->entry.bootstrap.rank;

    results[i] = bcs_meet_again(&rank->entry.bootstrap, errors[i]);
}

START_TEST(they_agree_on_the_first_error)
{
    ranks_run(ranks, N, meet_again);
    ck_assert_int_eq(results[N - 1], 0);
    errors[1] = -EPERM;
    errors[2] = -EIO;
    ranks_run(ranks, N, meet_again);
    for (int i = 0; i < N; i++) {
        ck_assert_int_eq(results[i], -EPERM);
    }
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("meeting");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, all_share_the_machines_memory);
    tcase_add_test(tcase, they_copy_each_others_memory_if_they_may);
    tcase_add_test(tcase, they_do_not_if_they_shall_not);
    tcase_add_test(tcase, the_error_of_one_ends_it_for_all);
    tcase_add_test(tcase, of_several_errors_the_first_ones_counts);
    tcase_add_test(tcase, other_settings_of_the_last_are_found);
    tcase_add_test(tcase, they_agree_on_the_first_error);
    return run_tcase("meeting", tcase);
}
