/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting for the jobs of a launcher: which of several is taken, and what ends the
 * wait. What is found, who has started whom and what a job answers is this file's.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "apps/tools/top/job_json.h"
#include "apps/tools/top/kin.h"
#include "apps/tools/top/starter.h"
#include "libbcs/fabric/base/clock.h"
#include "tests/unit/run_suite.h"

enum { STARTER = 7, OF_ANOTHER = 10, ITS_OWN = 20, OF_A_THIRD = 30 };
enum { N_JOBS = 3, N_ANSWERS = 3 };

static struct {
    int answers[N_ANSWERS]; /* of the job, one after the other */
    int n_asked;
    int n_empty; /* searches that find nothing */
} world;

int bcs_look_find(struct bcs_look_found **found_out)
{
    static const int64_t pids[N_JOBS] = {OF_ANOTHER, ITS_OWN, OF_A_THIRD};

    *found_out = NULL;
    if (world.n_empty-- > 0) {
        return 0;
    }
    *found_out = calloc(N_JOBS, sizeof(**found_out));
    ck_assert_ptr_nonnull(*found_out);
    for (int i = 0; i < N_JOBS; i++) {
        (*found_out)[i].handle.pid = pids[i];
    }
    return N_JOBS;
}

bool kin_is_below(int64_t pid, int64_t ancestor)
{
    ck_assert_int_eq(ancestor, STARTER);
    return pid == ITS_OWN;
}

int job_json_open(const struct bcs_look_found *found, struct bcs_look **look_out)
{
    ck_assert_int_eq(found->handle.pid, ITS_OWN);
    *look_out = NULL;
    return world.answers[world.n_asked++];
}

static int await(void)
{
    struct starter_job job;
    int rc = starter_await_job(STARTER, &job);

    ck_assert_int_eq(job.found.handle.pid, ITS_OWN);
    return rc;
}

START_TEST(the_launchers_own_job_is_taken)
{
    ck_assert_int_eq(await(), 0);
    ck_assert_int_eq(world.n_asked, 1);
}
END_TEST

START_TEST(it_is_waited_for)
{
    world.n_empty = 2;
    ck_assert_int_eq(await(), 0);
    ck_assert_int_lt(world.n_empty, 0);
}
END_TEST

START_TEST(a_job_that_begins_or_has_ended_is_looked_for_again)
{
    world.answers[0] = -EAGAIN;
    world.answers[1] = -ENOENT;
    ck_assert_int_eq(await(), 0);
    ck_assert_int_eq(world.n_asked, N_ANSWERS);
}
END_TEST

START_TEST(a_job_that_cannot_be_looked_at_ends_the_wait)
{
    world.answers[0] = -EACCES;
    ck_assert_int_eq(await(), -EACCES);
    ck_assert_int_eq(world.n_asked, 1);
}
END_TEST

START_TEST(a_sleep_takes_its_time)
{
    const uint64_t ns = 20000000;
    uint64_t begin_ns = bcs_clock_now_ns();

    starter_sleep(ns);
    ck_assert_uint_ge(bcs_clock_now_ns(), begin_ns + ns);
}
END_TEST

static void begin(void)
{
    memset(&world, 0, sizeof(world));
}

int main(void)
{
    TCase *tcase = tcase_create("starter");

    tcase_add_checked_fixture(tcase, begin, NULL);
    tcase_add_test(tcase, the_launchers_own_job_is_taken);
    tcase_add_test(tcase, it_is_waited_for);
    tcase_add_test(tcase, a_job_that_begins_or_has_ended_is_looked_for_again);
    tcase_add_test(tcase, a_job_that_cannot_be_looked_at_ends_the_wait);
    tcase_add_test(tcase, a_sleep_takes_its_time);
    return run_tcase("starter", tcase);
}
