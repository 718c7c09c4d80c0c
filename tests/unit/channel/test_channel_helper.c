/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The helper thread of channels, in one process, whose channels go to itself. Where the
 * thread must not have done something, it is first seen to have looked at everything,
 * by a second channel that it answers for.
 */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libbcs/fabric/base/clock.h"
#include "tests/unit/caught_stderr.h"
#include "tests/unit/channel_ends.h"
#include "tests/unit/channel_helper.h"

enum { N_SLEEPS = 20, PING = 8 };

static struct bcs_channel_out *ping_out;
static struct bcs_channel_in *ping_in;
static uint64_t n_pinged;
static uint64_t n_pings; /* atomic */

/** What a handler that counts has done; both atomic. */
struct counts {
    uint64_t n_calls, n_words;
};

static void take_all(struct bcs_channel_in *from, void *arg)
{
    struct counts *counts = arg;
    uint64_t word;

    while (bcs_channel_try_receive(from, &word, sizeof(word))) {
        add(&counts->n_words);
    }
    add(&counts->n_calls);
}

static void take_none(struct bcs_channel_in *from, void *arg)
{
    struct counts *counts = arg;

    ck_assert_ptr_ne(from, in);
    add(&counts->n_calls);
}

static void answer(struct bcs_channel_in *from, void *arg)
{
    uint64_t word;

    (void)arg;
    while (bcs_channel_try_receive(from, &word, sizeof(word))) {
        add(&n_pings);
    }
}

static void setup(void)
{
    struct bcs_channel_params params = params_of(0, PING, 8, 10);

    n_pinged = n_pings = 0;
    setup_alone();
    ck_assert_int_eq(channels_open_out(alone, &params, &ping_out), 0);
    ck_assert_int_eq(channels_open_in(alone, &params, &ping_in), 0);
    ck_assert_int_eq(bcs_channel_set_helper(ping_in, BCS_CHANNEL_ARRIVAL, answer, NULL),
                     0);
}

/** See the thread look at all ends twice: it has gone through all of them in
 *  between. */
static void let_it_look(void)
{
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(bcs_channel_send_word(ping_out, 0), 0);
        await(&n_pings, ++n_pinged);
    }
}

static void send(bool is_last)
{
    uint64_t word = 0;

    ck_assert(bcs_channel_try_send(out, &word, sizeof(word), is_last));
}

/** Send words until the thread has called the handler, and let it look after each.
 *  @return how many */
static uint64_t words_until_called(enum bcs_channel_when when, uint64_t n_to_end)
{
    struct counts counts = {0};
    uint64_t n = 0;

    ck_assert_int_eq(bcs_channel_set_helper(in, when, take_all, &counts), 0);
    while (load(&counts.n_calls) == 0 && n < 1000) {
        send(++n == n_to_end);
        let_it_look();
    }
    ck_assert_int_eq(bcs_channel_set_handler(in, BCS_CHANNEL_NEVER, NULL, NULL), 0);
    ck_assert_uint_eq(counts.n_calls, 1);
    ck_assert_uint_eq(counts.n_words, n);
    return n;
}

START_TEST(handlers_are_called_when_they_are_due)
{
    struct counts counts = {0};

    open_both(8, 7 * 8);
    ck_assert_uint_eq(words_until_called(BCS_CHANNEL_ARRIVAL, 1), 1);
    ck_assert_uint_eq(words_until_called(BCS_CHANNEL_BEGIN, 0), 1);
    ck_assert_uint_eq(words_until_called(BCS_CHANNEL_END, 9), 9);
    ck_assert_uint_ge(words_until_called(BCS_CHANNEL_IF_HALF, 0), 7 * 4);
    /* In the middle of a message nothing begins. */
    ck_assert_int_eq(bcs_channel_set_helper(in, BCS_CHANNEL_BEGIN, take_all, &counts),
                     0);
    send(false);
    let_it_look();
    ck_assert_uint_eq(load(&counts.n_calls), 0);
}
END_TEST

START_TEST(an_end_of_the_thread_is_refused_to_its_owner)
{
    struct counts counts = {0};
    uint64_t word = 0;

    open_both(8, 10);
    send(false);
    ck_assert_int_eq(bcs_channel_set_helper(in, BCS_CHANNEL_END, take_all, &counts), 0);
    for (uint64_t i = 1; i < 20; i++) {
        ck_assert(bcs_channel_try_send(out, &i, sizeof(i), false));
    }
    let_it_look();
    ck_assert(!bcs_channel_try_receive(in, &word, sizeof(word)));
    ck_assert_int_eq(bcs_channel_status_in(in), BCS_CHANNEL_EMPTY);
    caught_stderr_begin();
    ck_assert_int_eq(bcs_channel_wait_in(in), -EPERM);
    ck_assert_ptr_nonnull(strstr(caught_stderr_next(),
                                 "channel 7 from rank 0: its handler runs in the "
                                 "helper thread"));
    caught_stderr_end();
    ck_assert_int_eq(channels_poll(alone), 0);
    ck_assert_int_eq(bcs_channel_set_handler(in, BCS_CHANNEL_NEVER, NULL, NULL), 0);
    for (uint64_t i = 0; i < 20; i++) {
        ck_assert_int_eq(bcs_channel_receive_word(in, &word), 0);
        ck_assert_uint_eq(word, i);
    }
    ck_assert_uint_eq(counts.n_calls, 0);
    close_both();
}
END_TEST

/** A handler that tries what it must not, and sets itself. */
static void try_all(struct bcs_channel_in *from, void *arg)
{
    struct bcs_channel_params params = params_of(0, 9, 8, 1);
    struct bcs_channel_out *other;
    struct counts *counts = arg;

    ck_assert_int_eq(bcs_channel_wait_in(from), -EDEADLK);
    ck_assert_int_eq(bcs_channel_wait_out(out), -EDEADLK);
    ck_assert_int_eq(bcs_channel_close_in(from), -EDEADLK);
    ck_assert_int_eq(bcs_channel_close_out(out), -EDEADLK);
    ck_assert_int_eq(channels_poll(alone), -EDEADLK);
    ck_assert_int_eq(channels_open_out(alone, &params, &other), -EDEADLK);
    ck_assert_int_eq(bcs_channel_set_helper(from, BCS_CHANNEL_END, take_all, arg),
                     -EDEADLK);
    ck_assert_int_eq(bcs_channel_set_handler(ping_in, BCS_CHANNEL_END, take_all, arg),
                     -EDEADLK);
    ck_assert_int_eq(bcs_channel_set_handler(from, BCS_CHANNEL_NEVER, try_all, arg), 0);
    add(&counts->n_calls);
}

START_TEST(a_handler_may_not_wait_but_may_set_itself)
{
    struct counts counts = {0};

    open_both(8, 10);
    ck_assert_int_eq(bcs_channel_set_helper(in, BCS_CHANNEL_ARRIVAL, try_all, &counts),
                     0);
    send(false);
    await(&counts.n_calls, 1);
    send(false);
    let_it_look();
    ck_assert_uint_eq(load(&counts.n_calls), 1);
    ck_assert_int_eq(bcs_channel_close_in(in), 0);
}
END_TEST

static void set_in_a_poll(struct bcs_channel_in *from, void *arg)
{
    ck_assert_int_eq(bcs_channel_set_helper(from, BCS_CHANNEL_END, take_all, arg),
                     -EDEADLK);
    ck_assert_int_eq(bcs_channel_set_handler(ping_in, BCS_CHANNEL_END, take_all, NULL),
                     -EDEADLK);
}

static void *use_from_another(void *arg)
{
    ck_assert_int_eq(bcs_channel_set_helper(in, BCS_CHANNEL_END, take_all, NULL),
                     -EPERM);
    ck_assert_int_eq(bcs_channel_set_handler(ping_in, BCS_CHANNEL_END, take_all, NULL),
                     -EPERM);
    return arg;
}

START_TEST(what_is_bad_is_refused)
{
    pthread_t thread;

    open_both(8, 10);
    ck_assert_int_eq(
        bcs_channel_set_helper(in, (enum bcs_channel_when)9, take_all, NULL), -EINVAL);
    ck_assert_int_eq(pthread_create(&thread, NULL, use_from_another, NULL), 0);
    pthread_join(thread, NULL);
    ck_assert_int_eq(
        bcs_channel_set_handler(in, BCS_CHANNEL_ARRIVAL, set_in_a_poll, NULL), 0);
    send(false);
    ck_assert_int_eq(channels_poll(alone), 1);
    let_it_look(); /* which still has the other end */
}
END_TEST

static int n_threads(void)
{
    DIR *folder = opendir("/proc/self/task");
    int n = 0;

    ck_assert_ptr_nonnull(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        n += entry->d_name[0] != '.';
    }
    closedir(folder);
    return n;
}

/** A thread that was waited for is there for a moment. */
static void await_threads(int n)
{
    while (n_threads() != n) {
        sched_yield();
    }
}

START_TEST(the_thread_is_there_while_an_end_is_its)
{
    struct counts counts = {0};
    int n = n_threads();

    open_both(8, 10);
    ck_assert_int_eq(n_threads(), n);
    ck_assert_int_eq(bcs_channel_set_helper(in, BCS_CHANNEL_END, take_all, &counts), 0);
    ck_assert_int_eq(n_threads(), n);
    ck_assert_int_eq(bcs_channel_close_in(ping_in), 0);
    ck_assert_int_eq(n_threads(), n);
    ck_assert_int_eq(bcs_channel_set_helper(in, BCS_CHANNEL_NEVER, take_all, NULL), 0);
    await_threads(n - 1);
    ck_assert_int_eq(bcs_channel_set_helper(in, BCS_CHANNEL_END, take_all, &counts), 0);
    ck_assert_int_eq(n_threads(), n);
    send(true);
    await(&counts.n_calls, 1);
    ck_assert_int_eq(bcs_channel_close_in(in), 0);
    await_threads(n - 1);
}
END_TEST

static void await_sleep(const struct bcs_channel_in *of)
{
    const uint32_t *sleeper = channel_in_of((struct bcs_channel_in *)of)->end.sleeper;

    /* Pairs with the thread's announcement. */
    while (__atomic_load_n(sleeper, __ATOMIC_ACQUIRE) != CHANNEL_HELPER_SLEEPS) {
        sched_yield();
    }
}

START_TEST(a_word_wakes_the_thread_and_nobody_else)
{
    struct counts counts = {0};
    uint64_t n_rings = bcs_bell_n_rings(&alone->bell);

    open_both(8, 10);
    send(false);
    n_rings = bcs_bell_n_rings(&alone->bell);
    ck_assert_int_eq(bcs_channel_set_helper(in, BCS_CHANNEL_ARRIVAL, take_all, &counts),
                     0);
    for (uint64_t i = 1; i <= N_SLEEPS; i++) {
        uint64_t n_own;

        await(&counts.n_words, i);
        await_sleep(in);
        n_own = bcs_bell_n_rings(&alone->helper.bell);
        send(false);
        await(&counts.n_words, i + 1);
        ck_assert_uint_eq(bcs_bell_n_rings(&alone->helper.bell), n_own + 1);
    }
    ck_assert_uint_eq(bcs_bell_n_rings(&alone->bell), n_rings);
}
END_TEST

static int64_t cpu_ns(pthread_t thread)
{
    struct timespec now;
    clockid_t clock;

    ck_assert_int_eq(pthread_getcpuclockid(thread, &clock), 0);
    clock_gettime(clock, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

START_TEST(what_a_handler_leaves_is_offered_again_but_not_all_the_time)
{
    struct counts counts = {0};
    int64_t cpu, start;

    open_both(8, 10);
    send(false);
    ck_assert_int_eq(
        bcs_channel_set_helper(in, BCS_CHANNEL_ARRIVAL, take_none, &counts), 0);
    await_sleep(in); /* from here on it has used up its patience */
    cpu = cpu_ns(alone->helper.id);
    start = (int64_t)bcs_clock_now_ns();
    await(&counts.n_calls, load(&counts.n_calls) + 10000);
    cpu = cpu_ns(alone->helper.id) - cpu;
    start = (int64_t)bcs_clock_now_ns() - start;
    ck_assert_int_lt(cpu, start / 2);
    ck_assert_int_gt(start, 50000000); /* a millisecond for some 65 looks */
}
END_TEST

/* Three threads: whether the handler runs, may return, has returned. */
static uint64_t is_in, may_go, has_gone;

static void wait_to_go(struct bcs_channel_in *from, void *arg)
{
    struct counts counts = {0};

    (void)arg;
    add(&is_in);
    await(&may_go, 1);
    take_all(from, &counts);
    add(&has_gone);
}

static void *let_go(void *arg)
{
    /* Pairs with the store of lock_first in helper.c. */
    while (__atomic_load_n(&alone->helper.is_asked, __ATOMIC_ACQUIRE) == 0) {
        sched_yield();
    }
    for (int i = 0; i < 1000; i++) {
        sched_yield();
    }
    ck_assert_uint_eq(load(&has_gone), 0);
    add(&may_go);
    return arg;
}

START_TEST(an_end_is_taken_back_once_its_handler_has_returned)
{
    pthread_t thread;

    is_in = may_go = has_gone = 0;
    open_both(8, 10);
    ck_assert_int_eq(bcs_channel_set_helper(in, BCS_CHANNEL_ARRIVAL, wait_to_go, NULL),
                     0);
    send(false);
    await(&is_in, 1);
    ck_assert_int_eq(pthread_create(&thread, NULL, let_go, NULL), 0);
    ck_assert_int_eq(bcs_channel_set_handler(in, BCS_CHANNEL_NEVER, NULL, NULL), 0);
    ck_assert_uint_eq(load(&has_gone), 1);
    pthread_join(thread, NULL);
}
END_TEST

/** Have the thread sleep and wake up once more. */
static void let_it_sleep(void)
{
    await_sleep(in);
    /* It says so again before its next sleep; pairs with that. */
    __atomic_store_n(channel_in_of(in)->end.sleeper, CHANNEL_AWAKE, __ATOMIC_RELEASE);
    ck_assert_int_eq(bcs_signal_event(alone->core, alone->helper.bell.gva), 0);
}

START_TEST(the_death_of_the_writer_is_told_once)
{
    uint64_t *pids = bcs_core_address(alone->core, alone->layout.pids_gva);
    struct counts counts = {0};
    uint64_t own = pids[0];
    const char *said = "";
    pid_t child = fork();

    if (child == 0) {
        _exit(0);
    }
    ck_assert_int_eq(bcs_channel_set_handler(ping_in, BCS_CHANNEL_NEVER, NULL, NULL),
                     0);
    open_both(8, 1);
    send(false);               /* what was sent before is handled */
    pids[0] = (uint64_t)child; /* it stays a zombie */
    caught_stderr_begin();
    ck_assert_int_eq(bcs_channel_set_helper(in, BCS_CHANNEL_ARRIVAL, take_all, &counts),
                     0);
    while (said[0] == '\0') {
        said = caught_stderr_next();
        sched_yield();
    }
    ck_assert_ptr_nonnull(
        strstr(said, "has ended while rank 0 waits at channel 7 from it"));
    await(&counts.n_words, 1);
    for (int i = 0; i < 200; i++) { /* of 64 sleeps one doubts */
        let_it_sleep();
    }
    ck_assert_int_eq(bcs_channel_set_handler(in, BCS_CHANNEL_NEVER, NULL, NULL), 0);
    ck_assert_str_eq(caught_stderr_next(), "");
    caught_stderr_end();
    ck_assert_int_eq(bcs_channel_wait_in(in), -EOWNERDEAD);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    pids[0] = own;
}
END_TEST

START_TEST(to_leave_ends_the_thread)
{
    struct counts counts = {0};
    int n;

    open_both(8, 10);
    ck_assert_int_eq(bcs_channel_set_helper(in, BCS_CHANNEL_ARRIVAL, take_all, &counts),
                     0);
    send(false);
    await(&counts.n_words, 1);
    n = n_threads();
    ck_assert_int_eq(channels_leave(alone), 0);
    await_threads(n - 1);
    ck_assert_int_eq(channels_join(&ranks[0].entry, &alone), 0);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("both ends");

    tcase_add_checked_fixture(tcase, setup, teardown_alone);
    tcase_add_test(tcase, handlers_are_called_when_they_are_due);
    tcase_add_test(tcase, an_end_of_the_thread_is_refused_to_its_owner);
    tcase_add_test(tcase, a_handler_may_not_wait_but_may_set_itself);
    tcase_add_test(tcase, what_is_bad_is_refused);
    tcase_add_test(tcase, the_thread_is_there_while_an_end_is_its);
    tcase_add_test(tcase, a_word_wakes_the_thread_and_nobody_else);
    tcase_add_test(tcase, what_a_handler_leaves_is_offered_again_but_not_all_the_time);
    tcase_add_test(tcase, an_end_is_taken_back_once_its_handler_has_returned);
    tcase_add_test(tcase, the_death_of_the_writer_is_told_once);
    tcase_add_test(tcase, to_leave_ends_the_thread);
    return run_tcase("channel_helper", tcase);
}
