/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which threads of a process are the program's. The tests run in processes of their
 * own, which have one thread at first.
 */
#include "libbcs/fabric/base/tasks.h"

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "tests/unit/run_suite.h"

static pthread_barrier_t end;

static void *live(void *unused)
{
    (void)unused;
    pthread_barrier_wait(&end);
    return NULL;
}

static void start(pthread_t *thread)
{
    ck_assert_int_eq(pthread_create(thread, NULL, live, NULL), 0);
}

/** Count the threads, a bcs_tasks_visit function. */
static bool count(void *arg, int32_t id)
{
    (void)id;
    ++*(uint32_t *)arg;
    return true;
}

START_TEST(what_one_thread_has_started_is_not_the_programs)
{
    struct bcs_tasks before = bcs_tasks_list(), since;
    pthread_t threads[2];
    uint32_t n = 0;

    pthread_barrier_init(&end, NULL, 3);
    start(&threads[0]);
    since = bcs_tasks_since(&before);
    ck_assert_uint_eq(since.n, 1);
    ck_assert(bcs_tasks_have(&since, since.tasks[0].id));
    ck_assert(!bcs_tasks_have(&since, gettid()));
    start(&threads[1]);
    ck_assert(bcs_tasks_visit(count, &n));
    ck_assert_uint_eq(n, 3);
    pthread_barrier_wait(&end);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}
END_TEST

static atomic_bool may_end;

static void *run(void *unused)
{
    while (!atomic_load(&may_end)) {
    }
    return unused;
}

START_TEST(of_several_that_run_it_is_unknown_who_has_started_what)
{
    struct bcs_tasks before, since;
    pthread_t threads[2];

    pthread_barrier_init(&end, NULL, 2);
    ck_assert_int_eq(pthread_create(&threads[0], NULL, run, NULL), 0);
    before = bcs_tasks_list();
    ck_assert_uint_eq(before.n, 2);
    start(&threads[1]);
    since = bcs_tasks_since(&before);
    ck_assert_uint_gt(since.n, BCS_TASKS_MOST);
    ck_assert(!bcs_tasks_have(&since, gettid()));
    atomic_store(&may_end, true);
    pthread_barrier_wait(&end);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}
END_TEST

/** List all, once all but this thread sleep. */
static struct bcs_tasks list_asleep(void)
{
    struct bcs_tasks all;
    bool are_asleep;

    do {
        sched_yield();
        all = bcs_tasks_list();
        are_asleep = true;
        for (uint32_t i = 0; i < all.n; i++) {
            are_asleep &= all.tasks[i].id == gettid() ||
                          all.tasks[i].state.kind != BCS_THREAD_RUNS;
        }
    } while (!are_asleep);
    return all;
}

START_TEST(who_has_slept_all_the_time_has_started_nothing)
{
    struct bcs_tasks before, since;
    pthread_t threads[2];

    pthread_barrier_init(&end, NULL, 3);
    start(&threads[0]);
    before = list_asleep();
    start(&threads[1]);
    since = bcs_tasks_since(&before);
    ck_assert_uint_eq(since.n, 1);
    before.tasks[before.tasks[0].id == gettid()].state.n_switches--; /* it has run */
    since = bcs_tasks_since(&before);
    ck_assert_uint_gt(since.n, BCS_TASKS_MOST);
    pthread_barrier_wait(&end);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}
END_TEST

/** Run until the main thread sleeps, and then sleep. */
static void *run_while_main_runs(void *unused)
{
    struct bcs_thread_state main_state;

    do {
        ck_assert(bcs_thread_look(getpid(), &main_state));
    } while (main_state.kind == BCS_THREAD_RUNS);
    pthread_barrier_wait(&end);
    return unused;
}

START_TEST(who_runs_is_given_time_to_fall_asleep)
{
    struct bcs_tasks since;
    pthread_t thread;

    ck_assert_int_eq(gettid(), getpid());
    pthread_barrier_init(&end, NULL, 2);
    ck_assert_int_eq(pthread_create(&thread, NULL, run_while_main_runs, NULL), 0);
    do { /* on a busy machine more than once */
        const struct bcs_tasks before = bcs_tasks_list();

        since = bcs_tasks_since(&before);
    } while (since.n > BCS_TASKS_MOST);
    ck_assert_uint_eq(since.n, 0);
    pthread_barrier_wait(&end);
    pthread_join(thread, NULL);
}
END_TEST

START_TEST(who_has_the_id_of_one_that_has_ended_is_somebody_else)
{
    struct bcs_tasks all = bcs_tasks_list();

    ck_assert_uint_eq(all.n, 1);
    ck_assert_int_eq(all.tasks[0].id, gettid());
    ck_assert_uint_gt(all.tasks[0].began, 0);
    ck_assert(bcs_tasks_have(&all, gettid()));
    all.tasks[0].began--;
    ck_assert(!bcs_tasks_have(&all, gettid()));
    all.tasks[0].began = 0; /* it could not be read */
    ck_assert(!bcs_tasks_have(&all, gettid()));
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("tasks");

    tcase_add_test(tcase, what_one_thread_has_started_is_not_the_programs);
    tcase_add_test(tcase, of_several_that_run_it_is_unknown_who_has_started_what);
    tcase_add_test(tcase, who_has_slept_all_the_time_has_started_nothing);
    tcase_add_test(tcase, who_runs_is_given_time_to_fall_asleep);
    tcase_add_test(tcase, who_has_the_id_of_one_that_has_ended_is_somebody_else);
    return run_tcase("tasks", tcase);
}
