/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What of a process could act although its thread waits. Each test runs in a process of
 * its own, which has one thread, no timer and no handlers at first.
 */
#include "libbcs/fabric/base/agents.h"

#include <check.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/run_suite.h"

static struct bcs_agent find(const struct bcs_agents_but *but)
{
    const struct bcs_tasks none = {0};
    struct bcs_agents_but all = but == NULL ? (struct bcs_agents_but){0} : *but;

    if (all.tasks == NULL) {
        all.tasks = &none;
    }
    return bcs_agent_find(&all);
}

static void expect(enum bcs_agent_kind kind, const char *words)
{
    struct bcs_agent agent = find(NULL);

    ck_assert_msg(agent.kind == kind && strstr(agent.text, words) != NULL, "%s",
                  agent.text);
}

/* -------------------------------------------------------------------------- signals */

static void handle(int number)
{
    (void)number;
}

static void catch (int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};

    ck_assert_int_eq(sigaction(number, &action, NULL), 0);
}

START_TEST(a_handler_counts_if_its_timer_is_armed)
{
    const struct {
        __itimer_which_t which;
        int number;
        const char *words;
    } cases[] = {{ITIMER_REAL, SIGALRM, "it catches SIGALRM, and its timer"},
                 {ITIMER_VIRTUAL, SIGVTALRM, "it catches SIGVTALRM, and its timer"},
                 {ITIMER_PROF, SIGPROF, "it catches SIGPROF, and its timer"}};
    struct itimerval value = {.it_value = {.tv_sec = 1000}};

    catch (cases[_i].number, SIG_DFL); /* Check may have a handler */
    expect(BCS_AGENT_NONE, "");
    ck_assert_int_eq(setitimer(cases[_i].which, &value, NULL), 0);
    expect(BCS_AGENT_NONE, "");
    catch (cases[_i].number, SIG_IGN);
    expect(BCS_AGENT_NONE, "");
    catch (cases[_i].number, handle);
    expect(BCS_AGENT_HANDLER, cases[_i].words);
    value.it_value.tv_sec = 0;
    ck_assert_int_eq(setitimer(cases[_i].which, &value, NULL), 0);
    expect(BCS_AGENT_NONE, "");
}
END_TEST

START_TEST(a_handler_of_a_library_sends_nothing)
{
    const struct itimerval value = {.it_value = {.tv_sec = 1000}};

    catch (SIGPROF,
           (void (*)(int))(void *)getpid); /* in libc.so, as that of gprof is */
    ck_assert_int_eq(setitimer(ITIMER_PROF, &value, NULL), 0);
    expect(BCS_AGENT_NONE, "");
}
END_TEST

START_TEST(a_timer_counts_if_it_is_armed_and_its_signal_caught)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    struct itimerspec value = {.it_value = {.tv_sec = 1000}};
    timer_t unarmed, timer;

    ck_assert_int_eq(timer_create(CLOCK_MONOTONIC, &event, &unarmed), 0);
    event.sigev_signo = SIGUSR2;
    ck_assert_int_eq(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    catch (SIGUSR1, handle);
    catch (SIGUSR2, handle);
    expect(BCS_AGENT_NONE, "");
    ck_assert_int_eq(timer_settime(timer, 0, &value, NULL), 0);
    expect(BCS_AGENT_HANDLER, "it catches SIGUSR2, and a timer of timer_create");
    catch (SIGUSR2, SIG_DFL);
    expect(BCS_AGENT_NONE, "");
    timer_delete(timer);
    timer_delete(unarmed);
}
END_TEST

START_TEST(timers_are_read_one_by_one)
{
    const char *text = "ID: 0\nsignal: 10/00007ffd\nnotify: signal/pid.7\nClockID: 1\n"
                       "ID: 3\nsignal: 12/00007ffd\nnotify: none/pid.7\nClockID: 0\n"
                       "ID: 4\nsignal: 34/0000\nnotify: signal/tid.9\nClockID: 0\n";
    struct bcs_timer timer;

    text = bcs_timer_parse(text, &timer);
    ck_assert_ptr_nonnull(text);
    ck_assert(timer.id == 0 && timer.signal == 10);
    text = bcs_timer_parse(text, &timer);
    ck_assert_ptr_nonnull(text);
    ck_assert(timer.id == 3 && timer.signal == 0);
    text = bcs_timer_parse(text, &timer);
    ck_assert_ptr_nonnull(text);
    ck_assert(timer.id == 4 && timer.signal == 34);
    ck_assert_ptr_null(bcs_timer_parse(text, &timer));
    ck_assert_ptr_null(bcs_timer_parse("", &timer));
    ck_assert_ptr_null(bcs_timer_parse("ID: 1\nsig", &timer));
    ck_assert_ptr_null(bcs_timer_parse(NULL, &timer));
}
END_TEST

START_TEST(a_handler_counts_that_a_child_or_a_descriptor_may_call)
{
    pid_t child;

    catch (SIGCHLD, handle);
    expect(BCS_AGENT_NONE, "");
    child = fork();
    if (child == 0) {
        pause();
        _exit(EXIT_SUCCESS);
    }
    ck_assert_int_gt(child, 0);
    expect(BCS_AGENT_HANDLER, "it catches SIGCHLD, and has a child");
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    expect(BCS_AGENT_NONE, "");
    catch (SIGIO, handle);
    expect(BCS_AGENT_HANDLER, "it catches SIGIO, which a descriptor may send");
}
END_TEST

/* -------------------------------------------------------------------------- threads */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int32_t id;

static void *lock(void *unused)
{
    atomic_store(&id, gettid());
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *sleep_long(void *unused)
{
    atomic_store(&id, gettid());
    for (;;) {
        pause();
    }
    return unused;
}

/** Start a thread, and wait until it sleeps so. */
static pthread_t start(void *(*run)(void *), enum bcs_thread_kind kind)
{
    struct bcs_thread_state state;
    pthread_t thread;

    atomic_store(&id, 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, run, NULL), 0);
    do {
        sched_yield();
    } while (atomic_load(&id) == 0 || !bcs_thread_look(id, &state) ||
             state.kind != kind);
    return thread;
}

START_TEST(a_thread_that_sleeps_for_its_own_process_cannot_act)
{
    const struct bcs_tasks none = {0};
    pthread_t thread;

    pthread_mutex_lock(&mutex);
    thread = start(lock, BCS_THREAD_SLEEPS_FOR_OWN);
    expect(BCS_AGENT_NONE, "");
    ck_assert_uint_eq(bcs_agents_count(&none), 1);
    /* But for one that waits for its turn. */
    ck_assert_int_eq(find(&(struct bcs_agents_but){.door = &mutex}).kind,
                     BCS_AGENT_RUNS);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
}
END_TEST

START_TEST(a_thread_that_sleeps_otherwise_can)
{
    const struct bcs_tasks none = {0}, unknown = {.n = BCS_TASKS_MOST + 1};
    struct bcs_tasks since, before = bcs_tasks_list();
    uint32_t waiting;

    start(sleep_long, BCS_THREAD_SLEEPS);
    expect(BCS_AGENT_SLEEPS, "sleeps in pause");
    ck_assert_uint_eq(bcs_agents_count(&none), 2);
    ck_assert_uint_eq(bcs_agents_count(&unknown), 0);
    since = bcs_tasks_since(&before);
    ck_assert_int_eq(find(&(struct bcs_agents_but){.tasks = &since}).kind,
                     BCS_AGENT_NONE);
    ck_assert_uint_eq(bcs_agents_count(&since), 1);
    waiting = (uint32_t)id;
    ck_assert_int_eq(
        find(&(struct bcs_agents_but){.waiting = &waiting, .n_waiting = 1}).kind,
        BCS_AGENT_NONE);
}
END_TEST

static atomic_bool may_end;

static void *run(void *unused)
{
    while (!atomic_load(&may_end)) {
    }
    return unused;
}

START_TEST(a_thread_that_runs_can)
{
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, run, NULL), 0);
    expect(BCS_AGENT_RUNS, "runs");
    atomic_store(&may_end, true);
    pthread_join(thread, NULL);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("agents");

    tcase_add_loop_test(tcase, a_handler_counts_if_its_timer_is_armed, 0, 3);
    tcase_add_test(tcase, a_handler_of_a_library_sends_nothing);
    tcase_add_test(tcase, a_timer_counts_if_it_is_armed_and_its_signal_caught);
    tcase_add_test(tcase, timers_are_read_one_by_one);
    tcase_add_test(tcase, a_handler_counts_that_a_child_or_a_descriptor_may_call);
    tcase_add_test(tcase, a_thread_that_sleeps_for_its_own_process_cannot_act);
    tcase_add_test(tcase, a_thread_that_sleeps_otherwise_can);
    tcase_add_test(tcase, a_thread_that_runs_can);
    return run_tcase("agents", tcase);
}
