/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much of the cores of ranks that compute is taken by others. Every rank does the
 * same work in blocks, arithmetic in registers only, with no MPI call from the barrier
 * before the first block to the barrier after the last. The work is a number of steps,
 * not a time, so that what is taken makes the blocks longer. Run it on as many ranks as
 * there are cores, natively and under BCS, and compare the times of the loop. With
 * --post-steps each rank posts a message to itself every so many steps, so that timed
 * strobes have always something to carry out. With --wake-us a thread of rank 0 sleeps
 * from one time to the next and does nothing else: the least that timed strobes can
 * cost on a machine. With --poll-us every rank polls the clock instead of working: the
 * least by which strobes can be late on it. A plain MPI program of its own.
 */
#include <errno.h>
#include <getopt.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "apps/overhead/posts.h"

/* A linear congruential generator: each step has to wait for the one before. */
static const uint64_t FACTOR = UINT64_C(6364136223846793005);
static const uint64_t SUMMAND = UINT64_C(1442695040888963407);

enum { N_BLOCKS = 500, N_STEPS = 9000000, MAX_COUNT = 1000000000, N_TEXT = 128 };

static const char usage[] =
    "Usage: disturb [--blocks N] [--steps N] [--post-steps N] [--wake-us N]\n"
    "       disturb [--blocks N] --poll-us N\n"
    "\n"
    "Every rank does --blocks (500) blocks of --steps (9000000, some 10 ms) dependent\n"
    "steps each, in registers. Rank 0 prints for each rank the times of its blocks,\n"
    "and by how much their sum is over that of blocks as fast as the fastest; then\n"
    "the times of the loop on the slowest rank and of all ranks together.\n"
    "With --post-steps each rank posts a message to itself every so many steps and\n"
    "waits only for old ones.\n"
    "With --wake-us a thread of rank 0 wakes every so many microseconds and does\n"
    "nothing. With --poll-us the ranks do no steps: each polls the clock for --blocks\n"
    "points, so many microseconds apart, and rank 0 prints how late 99 % of them were\n"
    "seen, and how many were left out, as the one before was seen too late.\n"
    "Exit status 1 if a result is wrong, 2 for bad options.\n";

struct options {
    long n_blocks;
    long n_steps;
    long post_steps; /* 0: post nothing */
    long wake_us;    /* 0: no thread */
    long poll_us;    /* 0: work */
    bool is_help;
};

/** What one rank has measured. */
struct times {
    double median_ms;
    double fastest_ms;
    double longest_ms;
    double sum_ms;
    double n_wrong; /* 1 if the result is not what the steps give, or a message's */
};

static const int N_TIMES = sizeof(struct times) / sizeof(double);

static bool count_read(const char *text, long *count_out)
{
    char *end;
    long count;

    errno = 0;
    count = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || count < 1 || count > MAX_COUNT) {
        return false;
    }
    *count_out = count;
    return true;
}

/* Which count an option sets. */
static long *count_of(struct options *options, int letter)
{
    switch (letter) {
    case 'b':
        return &options->n_blocks;
    case 's':
        return &options->n_steps;
    case 'm':
        return &options->post_steps;
    case 'w':
        return &options->wake_us;
    default:
        return &options->poll_us;
    }
}

/* @return 0, or -EINVAL with what is wrong in error, of N_TEXT bytes */
static int options_read(int argc, char **argv, struct options *options, char *error)
{
    static const struct option known[] = {
        {"blocks", required_argument, NULL, 'b'},
        {"steps", required_argument, NULL, 's'},
        {"post-steps", required_argument, NULL, 'm'},
        {"wake-us", required_argument, NULL, 'w'},
        {"poll-us", required_argument, NULL, 'p'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    int letter;

    opterr = 0;
    while ((letter = getopt_long(argc, argv, "", known, NULL)) != -1) {
        if (letter == 'h') {
            options->is_help = true;
        } else if (letter == '?') {
            snprintf(error, N_TEXT, "%s: unknown, or without its value",
                     argv[optind - 1]);
            return -EINVAL;
        } else if (!count_read(optarg, count_of(options, letter))) {
            snprintf(error, N_TEXT, "%s: allowed are 1 to %d", optarg, MAX_COUNT);
            return -EINVAL;
        }
    }
    if (optind < argc) {
        snprintf(error, N_TEXT, "%s: no argument is expected", argv[optind]);
        return -EINVAL;
    }
    if (options->poll_us > 0 && (options->wake_us > 0 || options->post_steps > 0)) {
        snprintf(error, N_TEXT,
                 "--poll-us: not allowed with --wake-us or --post-steps");
        return -EINVAL;
    }
    return 0;
}

/* The work. */
static __attribute__((noinline)) uint64_t steps_do(uint64_t value, long n_steps)
{
    for (long step = 0; step < n_steps; step++) {
        value = value * FACTOR + SUMMAND;
    }
    return value;
}

/* The result of the work in few operations: steps are composed by doubling. */
static uint64_t steps_skip(uint64_t value, uint64_t n_steps)
{
    uint64_t factor = FACTOR, summand = SUMMAND;

    for (; n_steps > 0; n_steps /= 2) {
        if (n_steps % 2 == 1) {
            value = value * factor + summand;
        }
        summand *= factor + 1;
        factor *= factor;
    }
    return value;
}

static int time_compare(const void *left, const void *right)
{
    double difference = *(const double *)left - *(const double *)right;

    return (difference > 0) - (difference < 0);
}

/** A thread that wakes and sleeps again. */
struct waker {
    pthread_t thread;
    long wake_us;
    _Atomic bool is_stopping;
};

static void *waker_run(void *argument)
{
    struct waker *waker = argument;
    struct timespec next;

    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    clock_gettime(CLOCK_MONOTONIC, &next);
    while (!atomic_load(&waker->is_stopping)) {
        next.tv_nsec += waker->wake_us * 1000;
        next.tv_sec += next.tv_nsec / 1000000000;
        next.tv_nsec %= 1000000000;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    }
    return NULL;
}

static void waker_start(struct waker *waker, long wake_us)
{
    waker->wake_us = wake_us;
    atomic_init(&waker->is_stopping, false);
    if (pthread_create(&waker->thread, NULL, waker_run, waker) != 0) {
        fprintf(stderr, "disturb: no thread can be started\n");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
}

static void waker_stop(struct waker *waker)
{
    atomic_store(&waker->is_stopping, true);
    pthread_join(waker->thread, NULL);
}

/* Room for n times n_bytes, to be freed; without memory the job ends. */
static void *room_get(long n, size_t n_bytes)
{
    void *room = malloc((size_t)n * n_bytes);

    if (room == NULL) {
        fprintf(stderr, "disturb: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    return room;
}

/* The work of a block, and what is posted meanwhile. */
static uint64_t block_do(const struct options *options, uint64_t value,
                         struct posts *posts)
{
    long n_left = options->n_steps;

    while (options->post_steps > 0 && n_left >= options->post_steps) {
        value = steps_do(value, options->post_steps);
        n_left -= options->post_steps;
        posts_add(posts);
    }
    return steps_do(value, n_left);
}

/* Run the loop; block_ms has room for all blocks. */
static struct times loop_run(const struct options *options, int rank, double *block_ms)
{
    uint64_t seed = (uint64_t)rank + 1, value = seed;
    long n = options->n_blocks;
    struct times times = {0};
    struct posts posts;
    double before, after;

    posts_init(&posts, rank);
    MPI_Barrier(MPI_COMM_WORLD);
    before = MPI_Wtime();
    for (long block = 0; block < n; block++) {
        value = block_do(options, value, &posts);
        after = MPI_Wtime();
        block_ms[block] = (after - before) * 1e3;
        before = after;
    }
    posts_end(&posts);
    MPI_Barrier(MPI_COMM_WORLD);
    qsort(block_ms, (size_t)n, sizeof *block_ms, time_compare);
    times.median_ms = (block_ms[n / 2] + block_ms[(n - 1) / 2]) / 2;
    times.fastest_ms = block_ms[0];
    times.longest_ms = block_ms[n - 1];
    for (long block = 0; block < n; block++) {
        times.sum_ms += block_ms[block];
    }
    times.n_wrong = posts.is_wrong ||
                    value != steps_skip(seed, (uint64_t)n * (uint64_t)options->n_steps);
    return times;
}

/* @return how many ranks have computed something wrong */
static int report(const struct options *options, const struct times *ranks, int n_ranks)
{
    double loop_ms = 0, all_ms = 0;
    int n_wrong = 0;

    printf("disturb: %d ranks, %ld blocks of %ld steps\n", n_ranks, options->n_blocks,
           options->n_steps);
    printf("%-6s %12s %12s %12s %12s %13s\n", "rank", "median [ms]", "fastest",
           "longest", "sum", "over fastest");
    for (int i = 0; i < n_ranks; i++) {
        const struct times *times = &ranks[i];
        double undisturbed_ms = times->fastest_ms * (double)options->n_blocks;

        printf("%-6d %12.4f %12.4f %12.4f %12.3f %11.2f %%\n", i, times->median_ms,
               times->fastest_ms, times->longest_ms, times->sum_ms,
               100 * (times->sum_ms / undisturbed_ms - 1));
        loop_ms = times->sum_ms > loop_ms ? times->sum_ms : loop_ms;
        all_ms += times->sum_ms;
        if (times->n_wrong != 0) {
            fprintf(stderr, "disturb: the result of rank %d is wrong\n", i);
            n_wrong++;
        }
    }
    printf("loop %.3f ms\nall ranks %.3f ms\n", loop_ms, all_ms);
    return n_wrong;
}

/* Poll for points of a grid. Those that have passed meanwhile are left out, as strobes
 * are; late_us has room for all blocks. @return how many are not left out */
static long points_poll(const struct options *options, double *late_us)
{
    double period = (double)options->poll_us * 1e-6;
    long n = 0;
    double start;

    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    for (long point = 1; point <= options->n_blocks; point++) {
        double late;

        while ((late = MPI_Wtime() - start - (double)point * period) < 0) {
        }
        late_us[n++] = late * 1e6;
        point += (long)(late / period);
    }
    return n;
}

/* Sorts late_us, n entries of all ranks, of which those below 0 were left out. */
static void points_report(const struct options *options, double *late_us, long n)
{
    long n_seen = 0;

    qsort(late_us, (size_t)n, sizeof *late_us, time_compare);
    while (n_seen < n && late_us[n - 1 - n_seen] >= 0) {
        n_seen++;
    }
    printf("Points %ld every %ld us, left out %ld; 99 %% at most %.0f us late\n",
           n_seen, options->poll_us, n - n_seen, late_us[n - 1 - n_seen / 100]);
}

static void points_measure(const struct options *options, int rank, int n_ranks)
{
    long n_own = options->n_blocks, n = n_own * n_ranks;
    double *own_us = room_get(n_own, sizeof *own_us);
    double *late_us = rank == 0 ? room_get(n, sizeof *late_us) : NULL;

    for (long i = points_poll(options, own_us); i < n_own; i++) {
        own_us[i] = -1; /* left out */
    }
    MPI_Gather(own_us, (int)n_own, MPI_DOUBLE, late_us, (int)n_own, MPI_DOUBLE, 0,
               MPI_COMM_WORLD);
    if (rank == 0) {
        points_report(options, late_us, n);
    }
    free(own_us);
    free(late_us);
}

/* @return the exit status, the same on all ranks */
static int measure(const struct options *options, int rank, int n_ranks)
{
    double *block_ms = room_get(options->n_blocks, sizeof *block_ms);
    struct times *ranks = room_get(n_ranks, sizeof *ranks);
    struct times mine;
    struct waker waker;
    int n_wrong = 0;

    if (rank == 0 && options->wake_us > 0) {
        waker_start(&waker, options->wake_us);
    }
    mine = loop_run(options, rank, block_ms);
    if (rank == 0 && options->wake_us > 0) {
        waker_stop(&waker);
    }
    MPI_Gather(&mine, N_TIMES, MPI_DOUBLE, ranks, N_TIMES, MPI_DOUBLE, 0,
               MPI_COMM_WORLD);
    if (rank == 0) {
        n_wrong = report(options, ranks, n_ranks);
    }
    MPI_Bcast(&n_wrong, 1, MPI_INT, 0, MPI_COMM_WORLD);
    free(block_ms);
    free(ranks);
    return n_wrong > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    struct options options = {.n_blocks = N_BLOCKS, .n_steps = N_STEPS};
    char error[N_TEXT];
    int rank, n_ranks, status = EXIT_SUCCESS;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (options_read(argc, argv, &options, error) < 0) {
        if (rank == 0) {
            fprintf(stderr, "disturb: %s\n\n%s", error, usage);
        }
        status = 2;
    } else if (options.is_help) {
        if (rank == 0) {
            printf("%s", usage);
        }
    } else if (options.poll_us > 0) {
        points_measure(&options, rank, n_ranks);
    } else {
        status = measure(&options, rank, n_ranks);
    }
    MPI_Finalize();
    return status;
}
