/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The helper thread of channels in a process that calls exit without
 * bcs_channels_finalize. Such a process is a child, which has three functions called at
 * its exit: begin, the library's, and look, in this order; so what look finds is what a
 * program's destructors would. A handler is held until the exit waits for it or has
 * come to look, one of which happens: no time decides, but that the library waits a
 * second at most. Where the machine has used that up, the child is run once more.
 */
#include <bcs/channel.h>

#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libbcs/fabric/base/clock.h"
#include "tests/unit/channel_helper.h"
#include "tests/unit/run_suite.h"

enum {
    RIGHT,
    WRONG = 10,
    LATE = 11,
    N_ENDS = 3,
    HELD = 1,
    OF_ANOTHER = 3, /* an end that another thread has opened */
    N_ALL_ENDS,
    A_SECOND_NS = 1000000000
};

/* Of a child. The words are atomic. */
static struct bcs_channel_out *outs[N_ALL_ENDS];
static struct bcs_channel_in *ins[N_ALL_ENDS];
static pid_t program, helper, another; /* threads */
static uint64_t n_given, is_in, has_begun, has_come, has_returned;
static uint64_t n_others; /* calls of the handlers of the other ends */
static uint64_t begun_ns;
static bool is_for_ever;

static void expect(bool is_right, int line)
{
    if (!is_right) {
        fprintf(stderr, "line %d: wrong\n", line);
        _exit(WRONG);
    }
}

#define EXPECT(condition) expect(condition, __LINE__)

/** The first at the exit. */
static void begin(void)
{
    begun_ns = bcs_clock_now_ns();
    add(&has_begun);
}

/** The last at the exit: no handler runs, nor will any. */
static void look(void)
{
    uint64_t word = 0, waited_ns = bcs_clock_now_ns() - begun_ns;

    if (is_for_ever) {
        EXPECT(waited_ns >= A_SECOND_NS);
        return;
    }
    if (load(&has_returned) != load(&is_in) && waited_ns >= A_SECOND_NS) {
        _exit(LATE);
    }
    EXPECT(load(&has_returned) == load(&is_in));
    EXPECT(bcs_channel_try_send(outs[0], &word, sizeof(word), false));
    add(&has_come);
    while (load(&n_others) == 0 && state_of(helper) != 0) {
        sched_yield();
    }
    EXPECT(load(&n_others) == 0);
}

/** A handler has been called for the end that is HELD. */
static void come_in(struct bcs_channel_in *from)
{
    uint64_t word;

    EXPECT(bcs_channel_try_receive(from, &word, sizeof(word)));
    helper = gettid();
    add(&is_in);
}

static void hold(struct bcs_channel_in *from, void *arg)
{
    (void)arg;
    come_in(from);
    while (is_for_ever) {
        pause();
    }
    await(&has_begun, 1);
    while (state_of(program) != 'S' && load(&has_come) == 0) {
        sched_yield();
    }
    add(&has_returned);
}

static void return_at_once(struct bcs_channel_in *from, void *arg)
{
    (void)arg;
    come_in(from);
    add(&has_returned);
}

static void count(struct bcs_channel_in *from, void *arg)
{
    uint64_t word;

    (void)arg;
    while (bcs_channel_try_receive(from, &word, sizeof(word))) {
    }
    add(&n_others);
}

/** Open both ends of a channel of this process to itself. */
static void open_both(uint32_t number)
{
    struct bcs_channel_params params = {
        .number = number, .record_bytes = 8, .capacity = 10};

    EXPECT(bcs_channel_open_out(&params, &outs[number]) == 0);
    EXPECT(bcs_channel_open_in(&params, &ins[number]) == 0);
}

static void send(uint32_t number)
{
    EXPECT(bcs_channel_send_word(outs[number], 0) == 0);
}

/** Join, and have what is called at the exit in order. */
static void join(void)
{
    program = gettid();
    EXPECT(atexit(look) == 0);
    EXPECT(bcs_channels_init() == 0);
    EXPECT(atexit(begin) == 0);
}

/** Give all ends to the helper thread, and have it call the handler of one. */
static void give(bcs_channel_handler_fn handler)
{
    for (uint32_t i = 0; i < N_ENDS; i++) {
        open_both(i);
        EXPECT(bcs_channel_set_helper(ins[i], BCS_CHANNEL_ARRIVAL,
                                      i == HELD ? handler : count, NULL) == 0);
    }
    send(HELD);
    await(&is_in, 1);
}

static void start(bcs_channel_handler_fn handler)
{
    join();
    give(handler);
}

/** Run a child, which exits. @return its status */
static int exit_status_of(void (*fn)(void))
{
    int status = -1;
    pid_t child = fork();

    ck_assert_int_ge(child, 0);
    if (child == 0) {
        fn();
        exit(RIGHT);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void run_in_child(void (*fn)(void))
{
    int status;

    do {
        status = exit_status_of(fn);
    } while (status == LATE);
    ck_assert_int_eq(status, RIGHT);
}

static void exit_beside_a_handler(void)
{
    start(hold);
}

START_TEST(the_exit_waits_for_the_handler_that_runs)
{
    run_in_child(exit_beside_a_handler);
}
END_TEST

static void exit_beside_an_idle_thread(void)
{
    start(return_at_once);
    await(&has_returned, 1);
    while (state_of(helper) != 'S') {
        sched_yield();
    }
}

static void exit_beside_what_the_same_look_finds(void)
{
    start(hold);
    for (uint32_t i = 0; i < N_ENDS; i++) {
        send(i);
    }
}

START_TEST(no_other_handler_begins_after_the_one_that_runs)
{
    run_in_child(exit_beside_what_the_same_look_finds);
}
END_TEST

/** Give an end away, and want it back while the handler of another one runs. */
static void *take_back(void *arg)
{
    another = gettid();
    open_both(OF_ANOTHER);
    EXPECT(bcs_channel_set_helper(ins[OF_ANOTHER], BCS_CHANNEL_ARRIVAL, count, NULL) ==
           0);
    add(&n_given);
    await(&is_in, 1);
    EXPECT(bcs_channel_set_helper(ins[OF_ANOTHER], BCS_CHANNEL_NEVER, NULL, NULL) == 0);
    return arg;
}

static void exit_beside_another_that_takes_back(void)
{
    pthread_t thread;

    join();
    EXPECT(pthread_create(&thread, NULL, take_back, NULL) == 0);
    EXPECT(pthread_detach(thread) == 0);
    await(&n_given, 1);
    give(hold);
    while (state_of(another) != 'S') {
        sched_yield();
    }
}

START_TEST(the_exit_waits_though_another_thread_takes_back)
{
    run_in_child(exit_beside_another_that_takes_back);
}
END_TEST

START_TEST(a_thread_that_sleeps_runs_no_handler_after_the_exit)
{
    run_in_child(exit_beside_an_idle_thread);
}
END_TEST

static void exit_beside_a_handler_that_never_returns(void)
{
    is_for_ever = true;
    start(hold);
}

START_TEST(the_exit_waits_for_a_second_only)
{
    run_in_child(exit_beside_a_handler_that_never_returns);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("exit");

    tcase_add_test(tcase, the_exit_waits_for_the_handler_that_runs);
    tcase_add_test(tcase, no_other_handler_begins_after_the_one_that_runs);
    tcase_add_test(tcase, the_exit_waits_though_another_thread_takes_back);
    tcase_add_test(tcase, a_thread_that_sleeps_runs_no_handler_after_the_exit);
    tcase_add_test(tcase, the_exit_waits_for_a_second_only);
    return run_tcase("channel_helper_exit", tcase);
}
