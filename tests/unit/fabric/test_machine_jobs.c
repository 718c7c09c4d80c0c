/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slots of the jobs on a machine: who is beside whom, who is counted, and what becomes
 * of the slots of those who have ended without a word. A sequence of random steps is
 * compared with a model.
 */
#include "libbcs/fabric/base/machine_jobs.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libbcs/fabric/base/process.h"

enum { N_STEPS = 20000, N_ALONE = 5 };

static struct bcs_machine_jobs jobs;

static void setup(void)
{
    memset(&jobs, 0, sizeof(jobs));
}

/** The word of a process that has ended. */
static uint64_t dead_owner(void)
{
    int ends[2];
    uint64_t word;
    pid_t child;

    ck_assert_int_eq(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        word = bcs_process_word();
        _exit(write(ends[1], &word, sizeof(word)) != sizeof(word));
    }
    ck_assert_int_eq(read(ends[0], &word, sizeof(word)), sizeof(word));
    waitpid(child, NULL, 0);
    close(ends[0]);
    close(ends[1]);
    return word;
}

/** Enter on the processors from `first` on, at most 64 of them. */
static struct bcs_own_slot enter(uint64_t owner, uint32_t first, uint32_t n_cpus,
                                 uint32_t n_processes)
{
    struct bcs_own_slot own = {.jobs = &jobs};
    uint64_t cpus[BCS_SLOT_CPU_WORDS] = {0};

    ck_assert(bcs_jobs_take(&jobs, owner, &own.number));
    for (uint32_t i = first; i < first + n_cpus; i++) {
        cpus[i / 64] |= UINT64_C(1) << i % 64;
    }
    bcs_jobs_enter(&own, cpus, n_processes);
    return own;
}

START_TEST(who_has_no_seat_knows_of_nobody)
{
    const struct bcs_own_slot none = {0};

    bcs_jobs_tell(&none, 1);
    ck_assert(!bcs_jobs_are_shared(&none));
    ck_assert_uint_eq(bcs_jobs_n_beside(&none), 0);
}
END_TEST

START_TEST(those_who_are_awake_on_common_processors_count)
{
    struct bcs_own_slot one = enter(bcs_process_word(), 0, 2, 4), two, three;

    ck_assert(!bcs_jobs_are_shared(&one));
    two = enter(bcs_process_word(), 1, 2, 3);
    three = enter(bcs_process_word(), 1000, 24, 9);
    ck_assert_uint_eq(bcs_jobs_n_beside(&one), 3);
    ck_assert_uint_eq(bcs_jobs_n_beside(&two), 4);
    ck_assert_uint_eq(bcs_jobs_n_beside(&three), 0);
    bcs_jobs_tell(&two, 2);
    ck_assert_uint_eq(bcs_jobs_n_beside(&one), 1);
    bcs_jobs_tell(&two, 4); /* one has been counted twice for a moment */
    ck_assert_uint_eq(bcs_jobs_n_beside(&one), 0);
    bcs_jobs_tell(&two, 0);
    bcs_jobs_leave(&two);
    ck_assert_uint_eq(bcs_jobs_n_beside(&one), 0);
}
END_TEST

START_TEST(a_seat_tells_nothing_of_who_had_it_before)
{
    struct bcs_own_slot one = enter(bcs_process_word(), 0, 2, 4);
    struct bcs_own_slot two = enter(bcs_process_word(), 0, 2, 3), other;

    bcs_jobs_tell(&two, 3);
    bcs_jobs_leave(&two);
    other = enter(bcs_process_word(), 0, 1, 3);
    ck_assert_uint_eq(other.number, two.number);
    ck_assert_uint_eq(bcs_jobs_n_beside(&one), 3);
    bcs_jobs_leave(&other);
    other = enter(bcs_process_word(), 8, 1, 3);
    ck_assert(!bcs_jobs_are_shared(&one));
    ck_assert(!bcs_jobs_are_shared(&other));
}
END_TEST

START_TEST(all_seats_are_for_those_who_live)
{
    uint64_t dead = dead_owner(), self = bcs_process_word();
    uint32_t number;

    for (uint32_t i = 0; i < BCS_JOBS_MOST; i++) {
        enter(self, 0, 1, 1);
    }
    ck_assert(!bcs_jobs_take(&jobs, self, &number));
    for (uint32_t i = 1; i < BCS_JOBS_MOST; i += 2) {
        atomic_store(&jobs.slots[i].owner, dead);
    }
    for (uint32_t i = 1; i < BCS_JOBS_MOST; i += 2) {
        ck_assert(bcs_jobs_take(&jobs, self, &number));
        ck_assert_uint_eq(number, i);
    }
    ck_assert(!bcs_jobs_take(&jobs, self, &number));
}
END_TEST

START_TEST(who_has_ended_does_not_count_any_more)
{
    struct bcs_own_slot one = enter(bcs_process_word(), 0, 2, 4);
    struct bcs_own_slot three = enter(bcs_process_word(), 0, 2, 5);
    struct bcs_own_slot two = enter(dead_owner(), 0, 2, 3);
    uint32_t number;

    ck_assert_uint_eq(bcs_jobs_n_beside(&one), 8);
    bcs_jobs_sweep(&one);
    ck_assert_uint_eq(bcs_jobs_n_beside(&one), 5);
    ck_assert_uint_eq(bcs_jobs_n_beside(&three), 4);
    ck_assert_uint_eq(atomic_load(&jobs.slots[two.number].owner), 0);
    ck_assert(bcs_jobs_take(&jobs, bcs_process_word(), &number));
    ck_assert_uint_eq(number, two.number);
}
END_TEST

START_TEST(a_job_sweeps_now_and_then)
{
    struct bcs_own_slot one = enter(bcs_process_word(), 0, 2, 4);
    uint64_t dead = dead_owner();

    enter(dead, 0, 2, 3);
    bcs_jobs_sweep_in_time(&one);
    ck_assert_uint_eq(bcs_jobs_n_beside(&one), 0);
    enter(dead, 0, 2, 3);
    bcs_jobs_sweep_in_time(&one); /* so soon it does nothing */
    ck_assert_uint_eq(bcs_jobs_n_beside(&one), 3);
    atomic_store(&jobs.slots[one.number].swept_ns, 0);
    bcs_jobs_sweep_in_time(&one);
    ck_assert_uint_eq(bcs_jobs_n_beside(&one), 0);
}
END_TEST

/** A job of the model; n_processes 0: it does not run. */
struct model_job {
    struct bcs_own_slot own;
    uint32_t first, n_cpus, n_processes, n_asleep;
};

static bool have_common(const struct model_job *one, const struct model_job *other)
{
    return one->first < other->first + other->n_cpus &&
           other->first < one->first + one->n_cpus;
}

static uint32_t model_beside(const struct model_job jobs[], uint32_t n, uint32_t self)
{
    uint32_t n_awake = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (i != self && jobs[i].n_processes > 0 &&
            have_common(&jobs[i], &jobs[self])) {
            n_awake += jobs[i].n_processes - jobs[i].n_asleep;
        }
    }
    return n_awake;
}

static void step(struct model_job *job)
{
    if (job->n_processes == 0) {
        job->first = (uint32_t)random() % 100;
        job->n_cpus = 1 + (uint32_t)random() % 40;
        job->n_processes = 1 + (uint32_t)random() % 9;
        job->n_asleep = 0;
        job->own = enter(bcs_process_word(), job->first, job->n_cpus, job->n_processes);
    } else if (random() % 4 == 0) {
        bcs_jobs_leave(&job->own);
        job->n_processes = 0;
    } else {
        job->n_asleep = (uint32_t)random() % (job->n_processes + 1);
        bcs_jobs_tell(&job->own, job->n_asleep);
    }
}

START_TEST(random_jobs_come_and_go)
{
    static struct model_job jobs[N_ALONE];

    srandom(1);
    for (int i = 0; i < N_STEPS; i++) {
        step(&jobs[random() % N_ALONE]);
        for (uint32_t at = 0; at < N_ALONE; at++) {
            if (jobs[at].n_processes > 0) {
                ck_assert_uint_eq(bcs_jobs_n_beside(&jobs[at].own),
                                  model_beside(jobs, N_ALONE, at));
            }
        }
    }
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("machine_jobs");

    tcase_add_checked_fixture(tcase, setup, NULL);
    tcase_add_test(tcase, who_has_no_seat_knows_of_nobody);
    tcase_add_test(tcase, those_who_are_awake_on_common_processors_count);
    tcase_add_test(tcase, a_seat_tells_nothing_of_who_had_it_before);
    tcase_add_test(tcase, all_seats_are_for_those_who_live);
    tcase_add_test(tcase, who_has_ended_does_not_count_any_more);
    tcase_add_test(tcase, a_job_sweeps_now_and_then);
    tcase_add_test(tcase, random_jobs_come_and_go);
    return run_tcase("machine_jobs", tcase);
}
