/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which threads of a process are the program's. The tests run in processes of their own, which have
 * one thread at first.
 */
#include "libbcs/base/tasks.h"

#include <check.h>
#include <pthread.h>
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

START_TEST(what_one_thread_has_started_is_not_the_programs)
{
    struct bcs_tasks before = bcs_tasks_list(), since;
    pthread_t threads[2];

    pthread_barrier_init(&end, NULL, 3);
    start(&threads[0]);
    since = bcs_tasks_since(&before);
    ck_assert_uint_eq(since.n, 1);
    ck_assert_uint_eq(bcs_tasks_count(&since), 1);
    start(&threads[1]);
    ck_assert_uint_eq(bcs_tasks_count(&since), 2);
    ck_assert_uint_eq(bcs_tasks_count(NULL), 3);
    pthread_barrier_wait(&end);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}
END_TEST

START_TEST(of_several_it_is_unknown_who_has_started_what)
{
    struct bcs_tasks before, since;
    pthread_t threads[2];

    pthread_barrier_init(&end, NULL, 3);
    start(&threads[0]);
    before = bcs_tasks_list();
    ck_assert_uint_eq(before.n, 2);
    start(&threads[1]);
    since = bcs_tasks_since(&before);
    ck_assert_uint_eq(bcs_tasks_count(&since), 0);
    pthread_barrier_wait(&end);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}
END_TEST

START_TEST(who_has_the_id_of_one_that_has_ended_is_somebody_else)
{
    struct bcs_tasks all = bcs_tasks_list();

    ck_assert_uint_eq(all.n, 1);
    ck_assert_int_eq(all.tasks[0].id, gettid());
    ck_assert_uint_gt(all.tasks[0].began, 0);
    ck_assert_uint_eq(bcs_tasks_count(&all), 0);
    all.tasks[0].began--;
    ck_assert_uint_eq(bcs_tasks_count(&all), 1);
    all.tasks[0].began = 0; /* it could not be read */
    ck_assert_uint_eq(bcs_tasks_count(&all), 1);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("tasks");

    tcase_add_test(tcase, what_one_thread_has_started_is_not_the_programs);
    tcase_add_test(tcase, of_several_it_is_unknown_who_has_started_what);
    tcase_add_test(tcase, who_has_the_id_of_one_that_has_ended_is_somebody_else);
    return run_tcase("tasks", tcase);
}
