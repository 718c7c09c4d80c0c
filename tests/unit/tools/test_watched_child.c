/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A child that is watched, and sends signals to who watches it. Signals that come
 * close are one: how close is told by a clock that only this file moves, so that a
 * busy machine changes nothing.
 */
#include <check.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "apps/tools/launch/watch.h"
#include "tests/unit/run_suite.h"

#define SECOND_NS 1000000000u
enum { N_REPEATED = 4, STATUS = 3 };

/** Of both processes. */
static struct {
    _Atomic uint64_t now_ns;
    atomic_uint n_handled; /* signals, by who watches */
    atomic_uint n_asked;
    atomic_uint n_looks;
} * shared;
static pid_t watcher;

int clock_gettime(clockid_t clock, struct timespec *time_out)
{
    uint64_t now_ns = atomic_load(&shared->now_ns);

    (void)clock;
    time_out->tv_sec = (time_t)(now_ns / SECOND_NS);
    time_out->tv_nsec = (long)(now_ns % SECOND_NS);
    return 0;
}

/** Who waits for the next signal has handled the last one. */
int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    static bool has_taken;
    long number;

    atomic_fetch_add(&shared->n_handled, has_taken);
    number = syscall(SYS_rt_sigtimedwait, set, info, timeout, sizeof(uint64_t));
    has_taken = number >= 0;
    return (int)number;
}

static void answer(void *asked)
{
    (void)asked;
    atomic_fetch_add(&shared->n_asked, 1);
}

/** A look of who watches; the third is the last. */
static uint64_t look(void *looked)
{
    (void)looked;
    return atomic_fetch_add(&shared->n_looks, 1) == 2 ? 0 : SECOND_NS;
}

/** Send a signal to who watches, and wait until it has been handled. */
static void send(int number)
{
    unsigned int n_handled = atomic_load(&shared->n_handled);

    kill(watcher, number);
    while (atomic_load(&shared->n_handled) == n_handled) {
        sched_yield();
    }
}

static int child_asks(void *arg, const sigset_t *signals)
{
    (void)arg, (void)signals;
    for (int i = 0; i < N_REPEATED; i++) {
        send(WATCH_ASK);
    }
    atomic_fetch_add(&shared->now_ns, SECOND_NS);
    send(WATCH_ASK);
    return STATUS;
}

/** Who watches looks when the time has come, and not before. */
static int child_lets_time_go_by(void *arg, const sigset_t *signals)
{
    static const unsigned int n_expected[] = {1, 2, 3, 3, 3};
    static const uint64_t gone_ns[] = {SECOND_NS / 2, SECOND_NS / 2, SECOND_NS,
                                       SECOND_NS, SECOND_NS};

    (void)arg, (void)signals;
    while (atomic_load(&shared->n_looks) == 0) { /* the first look, at the begin */
        sched_yield();
    }
    for (size_t i = 0; i < sizeof(gone_ns) / sizeof(gone_ns[0]); i++) {
        atomic_fetch_add(&shared->now_ns, gone_ns[i]);
        send(WATCH_ASK);
        if (atomic_load(&shared->n_looks) != n_expected[i]) {
            return 1;
        }
    }
    return STATUS;
}

static int child_stops_at_once(void *arg, const sigset_t *signals)
{
    (void)arg, (void)signals;
    for (int i = 0; i < N_REPEATED; i++) {
        send(SIGTERM);
    }
    return STATUS;
}

static int child_stops_again(void *arg, const sigset_t *signals)
{
    (void)arg, (void)signals;
    send(SIGTERM);
    atomic_fetch_add(&shared->now_ns, SECOND_NS);
    send(SIGTERM); /* does not come back */
    return STATUS;
}

static struct watch_result run(int (*child_run)(void *, const sigset_t *))
{
    const struct watch_child child = {.name = "the child",
                                      .run = child_run,
                                      .has_own_group = true,
                                      .grace_ns = UINT64_C(1000) * SECOND_NS,
                                      .is_hasty = true,
                                      .ask = answer,
                                      .look = look};
    struct watch_result result;

    atomic_fetch_add(&shared->now_ns, SECOND_NS); /* Check looks at it, too */
    atomic_store(&shared->n_looks, 0);
    watcher = getpid();
    ck_assert_int_eq(watch_run(&child, &result), 0);
    return result;
}

START_TEST(who_asks_all_processes_of_a_name_means_it_once)
{
    struct watch_result result = run(child_asks);

    ck_assert_uint_eq(atomic_load(&shared->n_asked), 2);
    ck_assert_int_eq(result.status, STATUS);
    ck_assert(!result.is_interrupted && !result.is_killed);
}
END_TEST

START_TEST(looks_come_when_they_are_due)
{
    ck_assert_int_eq(run(child_lets_time_go_by).status, STATUS);
}
END_TEST

START_TEST(two_stops_that_come_close_are_one)
{
    struct watch_result result = run(child_stops_at_once);

    ck_assert_int_eq(result.status, 128 + SIGTERM);
    ck_assert(result.is_interrupted && !result.is_killed);
}
END_TEST

START_TEST(a_second_stop_ends_the_grace)
{
    struct watch_result result = run(child_stops_again);

    ck_assert_int_eq(result.status, 128 + SIGTERM);
    ck_assert(result.is_interrupted && result.is_killed);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("watched_child");

    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        return 1;
    }
    tcase_add_test(tcase, who_asks_all_processes_of_a_name_means_it_once);
    tcase_add_test(tcase, looks_come_when_they_are_due);
    tcase_add_test(tcase, two_stops_that_come_close_are_one);
    tcase_add_test(tcase, a_second_stop_ends_the_grace);
    return run_tcase("watched_child", tcase);
}
