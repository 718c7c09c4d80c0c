/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of what waits ask of the system: who waits uses the one in force, and the
 * kernel's does what it says.
 */
#include "libbcs/fabric/base/system.h"

#include <check.h>
#include <time.h>

#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/base/park.h"
#include "libbcs/fabric/base/process.h"
#include "libbcs/fabric/transport/shm/node_lock.h"
#include "tests/unit/run_suite.h"

enum { NOW_NS = 5000, SHORT_NS = 70 };

/* What has been asked of the table below, and for the last time how. */
static struct {
    unsigned int n_sleeps, n_wakes, n_yields;
    const void *word;
    uint32_t value;
    uint64_t until_ns;
} asked;
static bool is_late; /* the answer to who sleeps */
static struct shm_node_lock lock;
static unsigned int n_kernel_yields;

int sched_yield(void)
{
    n_kernel_yields++;
    return 0;
}

static uint64_t play_now_ns(void)
{
    return NOW_NS;
}

static bool play_sleep(const void *word, uint32_t value, uint64_t until_ns)
{
    asked.n_sleeps++;
    asked.word = word;
    asked.value = value;
    asked.until_ns = until_ns;
    shm_node_lock_release(&lock);
    return is_late;
}

static void play_wake(const void *word)
{
    asked.n_wakes++;
    asked.word = word;
}

static void play_yield(void)
{
    asked.n_yields++;
}

static const struct bcs_system_ops played = {
    .now_ns = play_now_ns,
    .sleep = play_sleep,
    .wake = play_wake,
    .yield = play_yield,
};

/** Put the table above in force. With the kernel's the tests would sleep for ever. */
static void play(void)
{
    bcs_system_set(&played);
    ck_assert_ptr_eq(bcs_system(), &played);
}

static uint64_t monotonic_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

START_TEST(the_kernels_table_is_in_force_until_another_one_is_set)
{
    ck_assert_ptr_eq(bcs_system(), &bcs_system_kernel);
    play();
    bcs_system_set(&bcs_system_kernel);
    ck_assert_ptr_eq(bcs_system(), &bcs_system_kernel);
}
END_TEST

START_TEST(clock_and_yield_are_those_in_force)
{
    play();
    ck_assert_uint_eq(bcs_clock_now_ns(), NOW_NS);
    ck_assert_uint_eq(bcs_clock_moment().ns, NOW_NS);
    bcs_yield();
    ck_assert_uint_eq(asked.n_yields, 1);
    ck_assert_uint_eq(n_kernel_yields, 0);
}
END_TEST

START_TEST(a_word_is_slept_on_and_woken_by_the_table_in_force)
{
    uint32_t word = 3;

    play();
    is_late = true;
    ck_assert(bcs_word_sleep(&word, 4, 5));
    ck_assert_ptr_eq(asked.word, &word);
    ck_assert_uint_eq(asked.value, 4);
    ck_assert_uint_eq(asked.until_ns, 5);
    is_late = false;
    ck_assert(!bcs_word_sleep(&word, 4, 5));
    ck_assert_uint_eq(asked.n_sleeps, 2);
    asked.word = NULL;
    bcs_word_wake(&word);
    ck_assert_ptr_eq(asked.word, &word);
    ck_assert_uint_eq(asked.n_wakes, 1);
}
END_TEST

START_TEST(who_rests_sleeps_from_the_time_in_force_on)
{
    play();
    bcs_rest(SHORT_NS);
    ck_assert_uint_eq(asked.n_sleeps, 1);
    ck_assert_uint_eq(asked.until_ns, NOW_NS + SHORT_NS);
}
END_TEST

START_TEST(a_parking_that_was_ended_is_not_slept_on)
{
    _Atomic uint32_t park = 0;
    uint32_t announced = bcs_park_announce(&park, NULL);

    play();
    bcs_park_sleep(&park, announced, 0);
    ck_assert_uint_eq(asked.n_sleeps, 1);
    ck_assert_ptr_eq(asked.word, (const void *)&park);
    ck_assert_uint_eq(asked.value, announced);
    ck_assert(bcs_park_wake(&park));
    bcs_park_sleep(&park, announced, 0);
    ck_assert_uint_eq(asked.n_sleeps, 1);
    ck_assert(!bcs_park_wake(&park));
    ck_assert_uint_eq(asked.n_wakes, 1);
}
END_TEST

START_TEST(who_waits_for_the_lock_of_a_node_yields_and_then_rests)
{
    uint64_t self = bcs_process_word();

    ck_assert_int_eq(shm_node_lock_acquire(&lock, self, 0), 0);
    play();
    ck_assert_int_eq(shm_node_lock_acquire(&lock, self, 0), 0);
    ck_assert_uint_gt(asked.n_yields, 0);
    ck_assert_uint_eq(asked.n_sleeps, 1); /* it released the lock */
    ck_assert_uint_gt(asked.until_ns, NOW_NS);
}
END_TEST

START_TEST(the_kernels_clock_is_the_monotonic_one)
{
    uint64_t before_ns = monotonic_ns(), now_ns = bcs_clock_now_ns();

    ck_assert_uint_ge(now_ns, before_ns);
    ck_assert_uint_le(now_ns, monotonic_ns());
}
END_TEST

START_TEST(the_kernel_sleeps_while_the_value_stays_and_the_time_has_not_come)
{
    const uint32_t word = 1;
    uint64_t until_ns = monotonic_ns() + SHORT_NS;

    ck_assert(!bcs_word_sleep(&word, 2, 0));
    ck_assert(!bcs_word_sleep(&word, 2, until_ns));
    while (!bcs_word_sleep(&word, 1, until_ns)) {
        /* It may return early. */
    }
    ck_assert_uint_ge(monotonic_ns(), until_ns);
}
END_TEST

START_TEST(the_kernel_is_asked_to_let_others_run)
{
    bcs_yield();
    ck_assert_uint_eq(n_kernel_yields, 1);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("system");

    tcase_add_test(tcase, the_kernels_table_is_in_force_until_another_one_is_set);
    tcase_add_test(tcase, clock_and_yield_are_those_in_force);
    tcase_add_test(tcase, a_word_is_slept_on_and_woken_by_the_table_in_force);
    tcase_add_test(tcase, who_rests_sleeps_from_the_time_in_force_on);
    tcase_add_test(tcase, a_parking_that_was_ended_is_not_slept_on);
    tcase_add_test(tcase, who_waits_for_the_lock_of_a_node_yields_and_then_rests);
    tcase_add_test(tcase, the_kernels_clock_is_the_monotonic_one);
    tcase_add_test(tcase,
                   the_kernel_sleeps_while_the_value_stays_and_the_time_has_not_come);
    tcase_add_test(tcase, the_kernel_is_asked_to_let_others_run);
    return run_tcase("system", tcase);
}
