/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sleeping and waking of a port's owner, in one and in several processes and threads:
 * no wake is lost, and those who sleep are counted. A test that would sleep for ever
 * fails by its time limit.
 */
#include "libbcs/fabric/ring/sleep.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N_SLEEPS = 2000, N_SLEEPERS = 3 };

/** One thread or process that sleeps, as the test sees it. */
struct sleeper {
    struct bcs_port *port;
    _Atomic uint32_t n_announced;
    _Atomic uint32_t n_woken;
};

static struct bcs_machine *machine;
static struct bcs_port *ports; /* [N_SLEEPERS] */
static struct sleeper *sleepers;

static void *shared_map(size_t n_bytes)
{
    void *base =
        mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    ck_assert_ptr_ne(base, MAP_FAILED);
    return base;
}

static void setup(void)
{
    machine = shared_map(sizeof(*machine));
    ports = shared_map(N_SLEEPERS * sizeof(*ports));
    sleepers = shared_map(N_SLEEPERS * sizeof(*sleepers));
    for (int i = 0; i < N_SLEEPERS; i++) {
        sleepers[i].port = &ports[i];
    }
}

static void teardown(void)
{
    munmap(machine, sizeof(*machine));
    munmap(ports, N_SLEEPERS * sizeof(*ports));
    munmap(sleepers, N_SLEEPERS * sizeof(*sleepers));
}

static bool is_parked(const struct bcs_port *port)
{
    return atomic_load(&port->park) % 2 != 0;
}

START_TEST(without_an_announcement_nothing_changes)
{
    bcs_sleep_wake(machine, ports);
    bcs_sleep_retract(machine, ports);
    ck_assert_uint_eq(atomic_load(&ports->park), 0);
    ck_assert_uint_eq(atomic_load(&machine->n_asleep), 0);
}
END_TEST

START_TEST(those_who_sleep_are_counted)
{
    bcs_sleep_announce(machine, &ports[0]);
    ck_assert(is_parked(&ports[0]));
    ck_assert_uint_eq(atomic_load(&machine->n_asleep), 1);
    bcs_sleep_announce(machine, &ports[1]);
    ck_assert_uint_eq(atomic_load(&machine->n_asleep), 2);
    bcs_sleep_announce(machine, &ports[1]); /* another thread of the same process */
    ck_assert_uint_eq(atomic_load(&machine->n_asleep), 2);
    bcs_sleep_wake(machine, &ports[1]);
    ck_assert(!is_parked(&ports[1]));
    ck_assert_uint_eq(atomic_load(&machine->n_asleep), 1);
    bcs_sleep_wake(machine, &ports[1]);
    bcs_sleep_retract(machine, &ports[1]);
    ck_assert_uint_eq(atomic_load(&machine->n_asleep), 1);
    bcs_sleep_retract(machine, &ports[0]);
    ck_assert(!is_parked(&ports[0]));
    ck_assert_uint_eq(atomic_load(&machine->n_asleep), 0);
}
END_TEST

START_TEST(a_wake_after_the_announcement_prevents_the_sleep)
{
    for (int i = 0; i < 100; i++) {
        uint32_t park = bcs_sleep_announce(machine, ports);

        ck_assert_uint_eq(park % 2, 1);
        bcs_sleep_wake(machine, ports);
        bcs_sleep_now(ports, park, 0);
    }
}
END_TEST

START_TEST(a_retracted_announcement_does_not_sleep)
{
    uint32_t park = bcs_sleep_announce(machine, ports);

    bcs_sleep_retract(machine, ports);
    bcs_sleep_now(ports, park, 0);
    ck_assert_uint_ne(bcs_sleep_announce(machine, ports), park);
    bcs_sleep_now(ports, park, 0);
}
END_TEST

START_TEST(an_announcement_before_a_wake_cannot_sleep_even_if_another_comes_between)
{
    uint32_t first = bcs_sleep_announce(machine, ports);
    uint32_t second;

    bcs_sleep_wake(machine, ports);
    second = bcs_sleep_announce(machine, ports);
    ck_assert_uint_ne(first, second);
    bcs_sleep_now(ports, first, 0);
    ck_assert_uint_eq(atomic_load(&ports->park), second);
}
END_TEST

START_TEST(a_sleep_may_have_a_limit_and_the_announcement_outlasts_it)
{
    uint32_t park = bcs_sleep_announce(machine, ports);

    ck_assert(!bcs_sleep_now(ports, park, 1)); /* long ago */
    ck_assert(is_parked(ports));
    ck_assert_uint_eq(atomic_load(&machine->n_asleep), 1);
    bcs_sleep_wake(machine, ports);
    ck_assert(bcs_sleep_now(ports, park, 1));
}
END_TEST

/* ---- with somebody really asleep */

static void sleep_often(struct sleeper *me)
{
    for (uint32_t i = 0; i < N_SLEEPS; i++) {
        uint32_t park = bcs_sleep_announce(machine, me->port);

        atomic_fetch_add(&me->n_announced, 1);
        bcs_sleep_now(me->port, park, 0);
        atomic_fetch_add(&me->n_woken, 1);
    }
}

static void await(const _Atomic uint32_t *counter, uint32_t target)
{
    while (atomic_load(counter) < target) {
        sched_yield();
    }
}

START_TEST(a_sleeping_process_is_woken_by_one_wake)
{
    pid_t pid = fork();
    int status = -1;

    if (pid == 0) {
        sleep_often(&sleepers[0]);
        _exit(0);
    }
    for (uint32_t i = 1; i <= N_SLEEPS; i++) {
        await(&sleepers[0].n_announced, i);
        bcs_sleep_wake(machine, &ports[0]);
        await(&sleepers[0].n_woken, i); /* for ever, if the wake was lost */
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(atomic_load(&machine->n_asleep), 0);
}
END_TEST

static void *sleep_thread(void *me)
{
    sleep_often(me);
    return NULL;
}

START_TEST(one_wake_wakes_all_threads_of_the_owner)
{
    pthread_t threads[N_SLEEPERS];

    for (int t = 0; t < N_SLEEPERS; t++) {
        sleepers[t].port = &ports[0];
        ck_assert_int_eq(pthread_create(&threads[t], NULL, sleep_thread, &sleepers[t]),
                         0);
    }
    for (uint32_t i = 1; i <= N_SLEEPS; i++) {
        for (int t = 0; t < N_SLEEPERS; t++) {
            await(&sleepers[t].n_announced, i);
        }
        bcs_sleep_wake(machine, &ports[0]);
    }
    for (int t = 0; t < N_SLEEPERS; t++) {
        pthread_join(threads[t], NULL);
    }
    ck_assert_uint_eq(atomic_load(&machine->n_asleep), 0);
}
END_TEST

static void *wake_thread(void *done)
{
    while (atomic_load((_Atomic uint32_t *)done) == 0) {
        for (int t = 0; t < N_SLEEPERS; t++) {
            bcs_sleep_wake(machine, &ports[t]);
        }
        sched_yield();
    }
    return NULL;
}

START_TEST(the_count_is_exact_after_wakes_by_several_at_once)
{
    pthread_t threads[N_SLEEPERS], wakers[2];
    _Atomic uint32_t done = 0;

    for (int t = 0; t < 2; t++) {
        ck_assert_int_eq(pthread_create(&wakers[t], NULL, wake_thread, &done), 0);
    }
    for (int t = 0; t < N_SLEEPERS; t++) {
        ck_assert_int_eq(pthread_create(&threads[t], NULL, sleep_thread, &sleepers[t]),
                         0);
    }
    for (int t = 0; t < N_SLEEPERS; t++) {
        pthread_join(threads[t], NULL);
    }
    atomic_store(&done, 1);
    for (int t = 0; t < 2; t++) {
        pthread_join(wakers[t], NULL);
    }
    ck_assert_uint_eq(atomic_load(&machine->n_asleep), 0);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("sleep");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, without_an_announcement_nothing_changes);
    tcase_add_test(tcase, those_who_sleep_are_counted);
    tcase_add_test(tcase, a_wake_after_the_announcement_prevents_the_sleep);
    tcase_add_test(tcase, a_retracted_announcement_does_not_sleep);
    tcase_add_test(
        tcase,
        an_announcement_before_a_wake_cannot_sleep_even_if_another_comes_between);
    tcase_add_test(tcase, a_sleep_may_have_a_limit_and_the_announcement_outlasts_it);
    tcase_add_test(tcase, a_sleeping_process_is_woken_by_one_wake);
    tcase_add_test(tcase, one_wake_wakes_all_threads_of_the_owner);
    tcase_add_test(tcase, the_count_is_exact_after_wakes_by_several_at_once);
    return run_tcase("sleep", tcase);
}
