/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs in which all ranks wait for each other, and yet one could go on: by a
 * handler of a signal, or by a thread that MPI does not allow to call. MPI promises
 * nothing of them, but Open MPI carries them. They go on once a file is there, which
 * run_doubts.py makes when it has read of a suspicion. In some nobody could go on, in
 * spite of threads and handlers: they have a verdict.
 *
 * Arguments: name, file, level of threads. Without one, all are listed, each with what
 * is to be said of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { TAG = 7, NEVER = 8, N_POOL = 3, STEP_US = 20000 };

static int rank, n_ranks;
static const char *file;
static atomic_bool has_sent;

static bool may_go_on(void)
{
    return access(file, F_OK) == 0;
}

/** Let rank 1 go on, which then lets rank 0. */
static void send_once(void)
{
    int word = 1;

    if (!atomic_exchange(&has_sent, true)) {
        MPI_Send(&word, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD);
    }
}

static void exchange(void)
{
    int word = 0;

    if (rank < 2) {
        MPI_Recv(&word, 1, MPI_INT, 1 - rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (word != 1) {
            MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        }
    }
    if (rank == 1) {
        MPI_Send(&word, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
    }
}

static void rest(void)
{
    const struct timespec step = {.tv_nsec = STEP_US * 1000};

    clock_nanosleep(CLOCK_MONOTONIC, 0, &step, NULL);
}

/* ------------------------------------------------------------------------ handlers */

static void send_if_told(int number)
{
    (void)number;
    if (may_go_on()) {
        send_once();
    }
}

static void catch (int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};

    sigaction(number, &action, NULL);
}

static void arm(void)
{
    const struct itimerval value = {{0, STEP_US}, {0, STEP_US}};

    setitimer(ITIMER_REAL, &value, NULL);
}

static void disarm(void)
{
    setitimer(ITIMER_REAL, &(const struct itimerval){0}, NULL);
}

static void handler_that_sends(void)
{
    if (rank == 0) {
        catch (SIGALRM, send_if_told);
        arm();
    }
    exchange();
    disarm();
}

static sigjmp_buf before;

static void leave_if_told(int number)
{
    (void)number;
    if (may_go_on()) {
        siglongjmp(before, 1);
    }
}

/** What follows the call that is left finds all as it should be, a wait that sleeps,
 *  too. */
static void handler_that_leaves(void)
{
    int word = 0;

    if (rank == 0) {
        catch (SIGALRM, leave_if_told);
        arm();
        if (sigsetjmp(before, 1) == 0) {
            MPI_Recv(&word, 1, MPI_INT, 1, NEVER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        disarm();
        send_once();
    }
    exchange();
    for (int i = 0; i < 100; i++) {
        if (rank < 2) {
            MPI_Sendrecv_replace(&word, 1, MPI_INT, 1 - rank, i, 1 - rank, i,
                                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/** A timer of rank 0. */
static void start_timer(struct sigevent event)
{
    const struct itimerspec value = {{0, STEP_US * 1000}, {0, STEP_US * 1000}};
    timer_t timer;

    if (rank == 0) {
        timer_create(CLOCK_MONOTONIC, &event, &timer);
        timer_settime(timer, 0, &value, NULL);
    }
}

static void timer_that_signals(void)
{
    catch (SIGUSR1, send_if_told);
    start_timer(
        (struct sigevent){.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1});
    exchange();
}

static void call_if_told(union sigval value)
{
    (void)value;
    send_if_told(0);
}

static void timer_that_calls(void)
{
    start_timer((struct sigevent){.sigev_notify = SIGEV_THREAD,
                                  .sigev_notify_function = call_if_told});
    exchange();
}

/** Nothing will call it but another process. */
static void handler_without_timer(void)
{
    catch (SIGALRM, send_if_told);
    catch (SIGUSR1, send_if_told);
    catch (SIGINT, send_if_told);
    exchange();
}

/** It ends the process, if it comes to that. */
static void timer_without_handler(void)
{
    alarm(10000);
    exchange();
}

/* ------------------------------------------------------------------------- threads */

/** Another thread of rank 0 sends in the end. */
static void with_thread(void *(*run)(void *))
{
    pthread_t thread;

    if (rank == 0) {
        pthread_create(&thread, NULL, run, NULL);
    }
    exchange();
    if (rank == 0) {
        pthread_join(thread, NULL);
    }
}

static void *sleep_and_send(void *unused)
{
    while (!may_go_on()) {
        rest();
    }
    send_once();
    return unused;
}

static void thread_that_sleeps(void)
{
    with_thread(sleep_and_send);
}

static void *run_and_send(void *unused)
{
    while (!may_go_on()) {
    }
    send_once();
    return unused;
}

static void thread_that_runs(void)
{
    with_thread(run_and_send);
}

static int ends[2];

static void *read_and_send(void *unused)
{
    char byte;

    if (read(ends[0], &byte, 1) == 1) {
        send_once();
    }
    return unused;
}

/** A child, which has no threads, writes into the pipe. */
static void thread_that_reads(void)
{
    if (rank == 0 && pipe(ends) == 0 && fork() == 0) {
        while (!may_go_on()) {
            rest();
        }
        _exit(write(ends[1], "", 1) == 1 ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    with_thread(read_and_send);
}

static _Atomic uint32_t *word_of_all;

static void *await_others_and_send(void *unused)
{
    while (atomic_load(word_of_all) == 0) {
        syscall(SYS_futex, word_of_all, FUTEX_WAIT, 0, NULL, NULL, 0);
    }
    send_once();
    return unused;
}

/** The same, by memory that it shares. */
static void thread_that_shares(void)
{
    word_of_all = mmap(NULL, sizeof(*word_of_all), PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (rank == 0 && fork() == 0) {
        while (!may_go_on()) {
            rest();
        }
        atomic_store(word_of_all, 1);
        syscall(SYS_futex, word_of_all, FUTEX_WAKE, 1, NULL, NULL, 0);
        _exit(EXIT_SUCCESS);
    }
    with_thread(await_others_and_send);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void *sleep_for_own(void *unused)
{
    pthread_mutex_lock(&mutex);
    for (;;) {
        pthread_cond_wait(&never, &mutex);
    }
    return unused;
}

/** Threads that wait for work, as those of OpenMP and of libraries of linear
 *  algebra. */
static void pool_asleep(void)
{
    pthread_t thread;

    for (int i = 0; i < N_POOL; i++) {
        pthread_create(&thread, NULL, sleep_for_own, NULL);
    }
    exchange();
}

static void *run_and_sleep(void *unused)
{
    struct timespec begin, now;

    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000000 +
                 (now.tv_nsec - begin.tv_nsec) / 1000 <
             10 * STEP_US);
    return sleep_for_own(unused);
}

/** The same, but they look for work for a while before. */
static void pool_that_falls_asleep(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, run_and_sleep, NULL);
    exchange();
}

/** Whether the main thread sleeps. */
static bool is_main_asleep(void)
{
    char path[64], text[256] = "";
    const char *end;
    FILE *stat;

    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", getpid());
    stat = fopen(path, "r");
    if (stat == NULL || fgets(text, sizeof(text), stat) == NULL) {
        abort();
    }
    fclose(stat);
    end = strrchr(text, ')');
    return end != NULL && end[1] == ' ' && end[2] == 'S';
}

static void *await_sleep_and_send(void *unused)
{
    while (!is_main_asleep()) {
        sched_yield();
    }
    send_once();
    return unused;
}

/** Nobody is suspected, as rank 1 polls: so nobody but the thread itself wakes the main
 *  thread. */
static void beside_one_that_polls(void)
{
    int has_come = rank != 1;

    while (!has_come) {
        MPI_Iprobe(0, TAG, MPI_COMM_WORLD, &has_come, MPI_STATUS_IGNORE);
    }
    with_thread(await_sleep_and_send);
}

/* --------------------------------------------------------------------- threads in
 * turn */

static void *exchange_in_thread(void *unused)
{
    exchange();
    return unused;
}

/** The main thread does not call meanwhile, which MPI_THREAD_SERIALIZED allows. */
static void another_thread_calls(void)
{
    pthread_t thread;

    for (int i = 0; i < 10; i++) {
        atomic_store(&has_sent, false);
        if (rank == 0) {
            send_once();
        }
        pthread_create(&thread, NULL, exchange_in_thread, NULL);
        pthread_join(thread, NULL);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* ------------------------------------------------------------------------- table */

#define THREAD "its thread \\d+ \\(doubts\\) "
#define MISUSE "only thread \\d+ may call\\n"
#define AT_ONCE "MPI_THREAD_SERIALIZED\\n(.*\\n)*  MPI-3.1, 12.4.3: only one at a time"

/** What a case says is "stuck", or expressions, one of each of which is looked for: of
 *  a suspicion, and of misuse; "-" for none. */
static const struct one {
    const char *name;
    void (*run)(void);
    int level;
    const char *suspicion, *misuse;
} cases[] = {
    {"handler_that_sends", handler_that_sends, MPI_THREAD_SINGLE,
     "it catches SIGALRM, and its timer is armed", "-"},
    {"handler_that_leaves", handler_that_leaves, MPI_THREAD_SINGLE,
     "it catches SIGALRM, and its timer is armed", "-"},
    {"timer_that_signals", timer_that_signals, MPI_THREAD_SINGLE,
     "it catches SIGUSR1, and a timer of timer_create is armed", "-"},
    {"timer_that_calls", timer_that_calls, MPI_THREAD_SINGLE,
     THREAD "(sleeps in rt_sigtimedwait|runs)", MISUSE},
    {"handler_without_timer", handler_without_timer, MPI_THREAD_SINGLE, "stuck", "-"},
    {"timer_without_handler", timer_without_handler, MPI_THREAD_SINGLE, "stuck", "-"},
    {"thread_that_sleeps", thread_that_sleeps, MPI_THREAD_SINGLE,
     THREAD "(sleeps in clock_nanosleep|runs)", MISUSE},
    {"funneled_thread", thread_that_sleeps, MPI_THREAD_FUNNELED,
     THREAD "(sleeps in clock_nanosleep|runs)", MISUSE},
    {"serialized_thread", thread_that_sleeps, MPI_THREAD_SERIALIZED,
     THREAD "(sleeps in clock_nanosleep|runs)", AT_ONCE},
    {"thread_that_runs", thread_that_runs, MPI_THREAD_FUNNELED, THREAD "runs", MISUSE},
    {"thread_that_reads", thread_that_reads, MPI_THREAD_SINGLE, THREAD "sleeps in read",
     MISUSE},
    {"thread_that_shares", thread_that_shares, MPI_THREAD_SINGLE,
     THREAD "sleeps in futex", MISUSE},
    {"beside_one_that_polls", beside_one_that_polls, MPI_THREAD_SINGLE, "-", MISUSE},
    {"pool_asleep", pool_asleep, MPI_THREAD_SINGLE, "stuck", "-"},
    {"funneled_pool", pool_asleep, MPI_THREAD_FUNNELED, "stuck", "-"},
    {"serialized_pool", pool_asleep, MPI_THREAD_SERIALIZED, "stuck", "-"},
    {"multiple_pool", pool_asleep, MPI_THREAD_MULTIPLE, "stuck", "-"},
    {"pool_that_falls_asleep", pool_that_falls_asleep, MPI_THREAD_FUNNELED, "stuck",
     "-"},
    {"threads_in_turn", another_thread_calls, MPI_THREAD_SERIALIZED, "-", "-"},
    {"another_thread_calls", another_thread_calls, MPI_THREAD_FUNNELED, "-", MISUSE},
};
enum { N_CASES = sizeof(cases) / sizeof(cases[0]) };

/** Threads that MPI_Init makes are to get no signal of a timer: the kernel gives it to
 *  whichever thread runs. */
static void block_signals(int how)
{
    sigset_t signals;

    sigemptyset(&signals);
    sigaddset(&signals, SIGALRM);
    sigaddset(&signals, SIGUSR1);
    pthread_sigmask(how, &signals, NULL);
}

int main(int argc, char **argv)
{
    int provided, number = 0;

    while (number < N_CASES && (argc < 3 || strcmp(cases[number].name, argv[1]) != 0)) {
        if (argc < 3) {
            printf("%s\t%s\t%s\n", cases[number].name, cases[number].suspicion,
                   cases[number].misuse);
        }
        number++;
    }
    if (number == N_CASES) {
        return argc < 3 ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    file = argv[2];
    block_signals(SIG_BLOCK);
    MPI_Init_thread(&argc, &argv, cases[number].level, &provided);
    block_signals(SIG_UNBLOCK);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    cases[number].run();
    MPI_Finalize();
    return EXIT_SUCCESS;
}
