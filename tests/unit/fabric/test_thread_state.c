/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a thread does, by what the kernel writes of it.
 */
#include "libbcs/fabric/base/thread_state.h"

#include <check.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/unit/run_suite.h"

/** Read the line of a futex call. */
static enum bcs_thread_kind kind_of_futex(unsigned int operation, const char *limit)
{
    struct bcs_thread_state state = {0};
    char line[128];

    snprintf(line, sizeof(line), "%ld 0x7f00aa 0x%x 0x2 %s 0x0 0x0 0x7ffc 0x7f2b\n",
             (long)SYS_futex, operation, limit);
    bcs_thread_parse_call(line, &state);
    ck_assert_int_eq(state.call, SYS_futex);
    ck_assert_uint_eq(state.address, 0x7f00aa);
    return state.kind;
}

START_TEST(a_private_futex_without_a_limit_is_for_the_own_process)
{
    ck_assert_int_eq(kind_of_futex(0x189, "0x0"), BCS_THREAD_SLEEPS_FOR_OWN);
    ck_assert_int_eq(kind_of_futex(FUTEX_WAIT_PRIVATE, "0x0"),
                     BCS_THREAD_SLEEPS_FOR_OWN);
    ck_assert_int_eq(kind_of_futex(0x189, "0x7ffc10"), BCS_THREAD_SLEEPS);
    ck_assert_int_eq(kind_of_futex(FUTEX_WAIT, "0x0"), BCS_THREAD_SLEEPS);
    ck_assert_int_eq(kind_of_futex(0x109, "0x0"), BCS_THREAD_SLEEPS);
    ck_assert_int_eq(kind_of_futex(FUTEX_LOCK_PI_PRIVATE, "0x0"), BCS_THREAD_SLEEPS);
}
END_TEST

START_TEST(any_other_line_is_of_who_may_go_on)
{
    static const char *const running[] = {"running\n", "", "x", "-1 0x7ffc 0x7f2b\n"};
    struct bcs_thread_state state = {0};
    char line[64];

    for (size_t i = 0; i < sizeof(running) / sizeof(running[0]); i++) {
        state.kind = BCS_THREAD_SLEEPS;
        bcs_thread_parse_call(running[i], &state);
        ck_assert_int_eq(state.kind, BCS_THREAD_RUNS);
    }
    snprintf(line, sizeof(line), "%ld 0x3 0x89 0x0 0x0\n", (long)SYS_read);
    bcs_thread_parse_call(line, &state);
    ck_assert_int_eq(state.kind, BCS_THREAD_SLEEPS);
    ck_assert_str_eq(bcs_thread_call_name(state.call), "read");
    ck_assert_ptr_null(bcs_thread_call_name(-1));
    snprintf(line, sizeof(line), "%ld 0x3\n", (long)SYS_futex); /* cut off */
    bcs_thread_parse_call(line, &state);
    ck_assert_int_eq(state.kind, BCS_THREAD_SLEEPS);
}
END_TEST

START_TEST(switches_of_both_kinds_count)
{
    struct bcs_thread_state state = {0};

    ck_assert(bcs_thread_parse_status("Name:\ta thread of 16by\nState:\tS\n"
                                      "voluntary_ctxt_switches:\t40\n"
                                      "nonvoluntary_ctxt_switches:\t2\n",
                                      &state));
    ck_assert_uint_eq(state.n_switches, 42);
    ck_assert_str_eq(state.name, "a thread of 16b");
    ck_assert(
        !bcs_thread_parse_status("Name:\tx\nvoluntary_ctxt_switches:\t4\n", &state));
    ck_assert(!bcs_thread_parse_status("", &state));
}
END_TEST

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int32_t id;

static void *lock(void *unused)
{
    atomic_store(&id, gettid());
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

START_TEST(a_thread_that_waits_for_a_mutex_is_seen)
{
    struct bcs_thread_state state, again;
    pthread_t thread;

    pthread_mutex_lock(&mutex);
    ck_assert_int_eq(pthread_create(&thread, NULL, lock, NULL), 0);
    do {
        sched_yield();
    } while (atomic_load(&id) == 0 || !bcs_thread_look(id, &state) ||
             state.kind != BCS_THREAD_SLEEPS_FOR_OWN);
    ck_assert_uint_ge(state.address, (uintptr_t)&mutex);
    ck_assert_uint_lt(state.address, (uintptr_t)(&mutex + 1));
    ck_assert(bcs_thread_look(id, &again));
    ck_assert_uint_ge(again.n_switches, state.n_switches);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("thread_state");

    tcase_add_test(tcase, a_private_futex_without_a_limit_is_for_the_own_process);
    tcase_add_test(tcase, any_other_line_is_of_who_may_go_on);
    tcase_add_test(tcase, switches_of_both_kinds_count);
    tcase_add_test(tcase, a_thread_that_waits_for_a_mutex_is_seen);
    return run_tcase("thread_state", tcase);
}
