/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures a BSP computer. T(h) is the time of a superstep in which each process sends
 * h messages of one 8-byte word: the least of some batches, because whatever disturbs
 * makes it longer. The straight line L + g h comes closest to T(h) for h = 1, 2, 4 ...
 * 256, where what counts is the part by which it fails. s comes from a loop of
 * multiplications and additions on a vector that fits into the first cache.
 *
 * All processes run it at the same time, so that they share the cores while s is
 * measured as they do in a program.
 */
#include "apps/cbsp/probe.h"

#include <stdio.h>
#include <time.h>

#define VECTOR 1024
#define REPEATS 20000
#define N_LENGTHS 9
_Static_assert(1 << (N_LENGTHS - 1) == PROBE_MAX_WORDS, "lengths are powers of two");

#define BATCH_SECONDS 0.005
#define MAX_SUPERSTEPS 20000

struct line {
    double start;
    double slope;
};

static double now_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int probe_receiver(const struct probe_library *library, int word)
{
    int p = library->n_processes;

    return p == 1 ? 0 : (library->pid + 1 + word % (p - 1)) % p;
}

static double find_flops(const struct probe_library *library)
{
    double x[VECTOR];
    double y[VECTOR];
    double factor = 1.0 / 3.0;
    double seconds;

    for (int i = 0; i < VECTOR; i++) {
        x[i] = y[i] = i;
    }
    seconds = now_seconds();
    for (int n = 0; n < REPEATS; n++) {
        for (int i = 0; i < VECTOR; i++) {
            y[i] += factor * x[i];
        }
        factor = -factor;
        /* Nothing may be left out or done for several rounds at once. */
        __asm__ volatile("" : : "r"(y) : "memory");
    }
    seconds = library->slowest(library->context, now_seconds() - seconds);
    return 2.0 * VECTOR * REPEATS / seconds;
}

static double find_superstep(const struct probe_library *library, int n_words,
                             int n_batches)
{
    double seconds = library->go(library->context, n_words, 20) / 20;
    double least;
    int n = MAX_SUPERSTEPS;

    seconds = library->slowest(library->context, seconds);
    if (seconds * MAX_SUPERSTEPS > BATCH_SECONDS) {
        n = 1 + (int)(BATCH_SECONDS / seconds);
    }
    least = seconds;
    for (int batch = 0; batch < n_batches; batch++) {
        seconds = library->go(library->context, n_words, n) / n;
        seconds = library->slowest(library->context, seconds);
        least = seconds < least ? seconds : least;
    }
    return least;
}

/* Least squares of the relative errors. */
static struct line fit(const double x[], const double y[], int n)
{
    double all = 0;
    double sum_x = 0;
    double sum_y = 0;
    double sum_xx = 0;
    double sum_xy = 0;
    double slope;

    for (int i = 0; i < n; i++) {
        double weight = 1.0 / (y[i] * y[i]);

        all += weight;
        sum_x += weight * x[i];
        sum_y += weight * y[i];
        sum_xx += weight * x[i] * x[i];
        sum_xy += weight * x[i] * y[i];
    }
    slope = (all * sum_xy - sum_x * sum_y) / (all * sum_xx - sum_x * sum_x);
    return (struct line){.start = (sum_y - slope * sum_x) / all, .slope = slope};
}

static void print_time(const struct probe_library *library, const char *what,
                       double seconds, double flops)
{
    printf("%s %s %.4f us %.1f flop\n", library->name, what, 1e6 * seconds,
           seconds * flops);
}

void probe_run(const struct probe_library *library, int n_batches)
{
    double words[N_LENGTHS];
    double seconds[N_LENGTHS];
    double flops = find_flops(library);
    double empty = find_superstep(library, 0, n_batches);
    struct line line;

    for (int l = 0; l < N_LENGTHS; l++) {
        words[l] = 1 << l;
        seconds[l] = find_superstep(library, 1 << l, n_batches);
    }
    line = fit(words, seconds, N_LENGTHS);
    if (library->pid != 0) {
        return;
    }
    printf("%s p %d\n", library->name, library->n_processes);
    printf("%s s %.1f Mflop/s\n", library->name, 1e-6 * flops);
    print_time(library, "L", line.start, flops);
    print_time(library, "g", line.slope, flops);
    print_time(library, "empty", empty, flops);
    for (int l = 0; l < N_LENGTHS; l++) {
        char what[32];

        snprintf(what, sizeof(what), "T(%d)", 1 << l);
        print_time(library, what, seconds[l], flops);
    }
    fflush(stdout);
}
