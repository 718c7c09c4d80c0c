/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The helper thread of channels where it has ended by an error, or cannot be made. That
 * it ends by an error is brought about by a word of the own heap that says that its
 * memory is broken; that it cannot be made, by a pthread_create of this program.
 */
#include <dlfcn.h>
#include <errno.h>

#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/transport/shm/node_lock.h"
#include "tests/unit/channel_ends.h"
#include "tests/unit/channel_helper.h"

enum { OTHER = 9, N_TRIES = 5, A_SECOND_NS = 1000000000 };

static uint64_t is_refused, is_making; /* atomic: no thread is made; one was to be */
static uint64_t is_held,
    may_go; /* atomic: another one is made first, which stays until then */
static pthread_t held;
static pid_t waiter;

static void *hold(void *arg)
{
    await(&may_go, 1);
    return arg;
}

/** The system's, unless it is to be refused; then once the waiter sleeps. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                   void *(*fn)(void *), void *arg)
{
    int (*make)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

    if (load(&is_refused) != 0) {
        add(&is_making);
        while (state_of(waiter) != 'S') {
            sched_yield();
        }
        return EAGAIN;
    }
    *(void **)&make = dlsym(RTLD_NEXT, "pthread_create");
    if (load(&is_held) != 0) { /* it gets the name of the one that has ended */
        ck_assert_int_eq(make(&held, NULL, hold, NULL), 0);
    }
    return make(thread, attributes, fn, arg);
}

/** A handler that sets itself, as it may, and counts. */
static void set_and_count(struct bcs_channel_in *from, void *arg)
{
    uint64_t word;

    ck_assert(bcs_channel_try_receive(from, &word, sizeof(word)));
    ck_assert_int_eq(
        bcs_channel_set_handler(from, BCS_CHANNEL_ARRIVAL, set_and_count, arg), 0);
    add(arg);
}

static uint32_t runs(void)
{
    /* Pairs with the store of tell_end in helper.c. */
    return __atomic_load_n(&alone->helper.runs, __ATOMIC_ACQUIRE);
}

/** Have the thread end by an error, when it has slept. */
static void break_its_sleep(void)
{
    struct shm_node_lock *lock = bcs_memory_heap(alone->meeting.memory, 0);

    /* Pair with the loads of shm_node_lock_is_broken. */
    __atomic_store_n(&lock->owner, UINT64_MAX, __ATOMIC_RELAXED);
    while (runs() != 0) {
        sched_yield();
    }
    __atomic_store_n(&lock->owner, 0, __ATOMIC_RELAXED);
}

START_TEST(a_thread_that_has_ended_by_an_error_is_made_anew_for_all_ends)
{
    struct bcs_channel_params params = params_of(0, OTHER, 8, 10);
    struct bcs_channel_out *other_out;
    struct bcs_channel_in *other_in;
    uint64_t n = 0, n_other = 0;

    open_both(8, 10);
    ck_assert_int_eq(channels_open_out(alone, &params, &other_out), 0);
    ck_assert_int_eq(channels_open_in(alone, &params, &other_in), 0);
    ck_assert_int_eq(bcs_channel_set_helper(in, BCS_CHANNEL_ARRIVAL, set_and_count, &n),
                     0);
    break_its_sleep();
    add(&is_held);
    ck_assert_int_eq(
        bcs_channel_set_helper(other_in, BCS_CHANNEL_ARRIVAL, set_and_count, &n_other),
        0);
    ck_assert_uint_eq(runs(), 1);
    ck_assert_int_eq(bcs_channel_send_word(other_out, 0), 0);
    await(&n_other, 1);
    ck_assert_int_eq(bcs_channel_send_word(out, 0), 0);
    await(&n, 1);
    add(&may_go);
    pthread_join(held, NULL);
    close_both();
}
END_TEST

START_TEST(the_last_end_of_a_thread_that_has_ended_is_taken_back)
{
    uint64_t n = 0, word;

    open_both(8, 10);
    ck_assert_int_eq(bcs_channel_set_helper(in, BCS_CHANNEL_ARRIVAL, set_and_count, &n),
                     0);
    break_its_sleep();
    ck_assert_int_eq(bcs_channel_send_word(out, 5), 0);
    ck_assert_int_eq(bcs_channel_set_handler(in, BCS_CHANNEL_NEVER, NULL, NULL), 0);
    ck_assert_int_eq(bcs_channel_receive_word(in, &word), 0);
    ck_assert_uint_eq(word, 5);
    ck_assert_uint_eq(n, 0);
}
END_TEST

/** Want a thread that cannot be made. */
static void *give_in_vain(void *arg)
{
    struct bcs_channel_params params = params_of(0, OTHER, 8, 10);
    struct bcs_channel_in *from;

    ck_assert_int_eq(channels_open_in(alone, &params, &from), 0);
    add(&is_refused);
    ck_assert_int_eq(
        bcs_channel_set_helper(from, BCS_CHANNEL_ARRIVAL, set_and_count, NULL),
        -EAGAIN);
    is_refused = 0;
    ck_assert_int_eq(bcs_channel_close_in(from), 0);
    return arg;
}

/** End as at the exit while another thread wants one in vain. @return how long that
 *  took */
static uint64_t exit_meanwhile_ns(void)
{
    pthread_t thread;
    uint64_t start_ns;

    is_making = 0;
    ck_assert_int_eq(pthread_create(&thread, NULL, give_in_vain, NULL), 0);
    await(&is_making, 1);
    start_ns = bcs_clock_now_ns();
    channel_helper_end_at_exit(&alone->helper);
    start_ns = bcs_clock_now_ns() - start_ns;
    pthread_join(thread, NULL);
    return start_ns;
}

START_TEST(the_exit_does_not_wait_for_a_thread_that_was_not_made)
{
    uint64_t waited_ns = A_SECOND_NS;

    waiter = gettid();
    /* More than once where the machine has used a second up. */
    for (int i = 0; i < N_TRIES && waited_ns >= A_SECOND_NS; i++) {
        waited_ns = exit_meanwhile_ns();
    }
    ck_assert_uint_lt(waited_ns, A_SECOND_NS);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("both ends");

    tcase_add_checked_fixture(tcase, setup_alone, teardown_alone);
    tcase_add_test(tcase,
                   a_thread_that_has_ended_by_an_error_is_made_anew_for_all_ends);
    tcase_add_test(tcase, the_last_end_of_a_thread_that_has_ended_is_taken_back);
    tcase_add_test(tcase, the_exit_does_not_wait_for_a_thread_that_was_not_made);
    return run_tcase("channel_helper_anew", tcase);
}
