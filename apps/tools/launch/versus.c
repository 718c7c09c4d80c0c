/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times native runs and runs under BCS in turn, so that a disturbance of the machine
 * meets both, and compares medians. Called by the one thread of bcsrun's keeper.
 */
#include "apps/tools/launch/versus.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "apps/tools/launch/bcsrun_error.h"
#include "apps/tools/launch/launch_run.h"
#include "libbcs/fabric/base/clock.h"

/* The launcher's time is short, and changes little. */
#define MAX_LAUNCHER_PAIRS 5
/* What is shown as 0.000 has no ratio. */
#define LEAST_S 0.0005

/** One side of the comparison. */
struct side {
    const char *name;
    const struct versus_commands *commands;
    double *seconds;   /* wall seconds of the runs of one kind so far */
    double job_s;      /* median */
    double launcher_s; /* median */
};

enum { NATIVE, BCS, N_SIDES };

static void output_show(int output_fd)
{
    char part[4096];
    off_t offset = 0;
    ssize_t n;

    while ((n = pread(output_fd, part, sizeof part, offset)) > 0) {
        fwrite(part, 1, (size_t)n, stderr);
        offset += n;
    }
}

/* One timed run. @return its exit status; seconds_out is set if that is 0 */
static int timed_run(const struct launch_home *home, char *const *command,
                     const char *name, double *seconds_out)
{
    struct watch_result result;
    uint64_t start_ns;
    int output_fd = memfd_create("output", MFD_CLOEXEC);

    if (output_fd < 0) {
        bcsrun_error("cannot keep the output: %s", strerror(errno));
        return EXIT_FAILURE;
    }
    start_ns = bcs_clock_now_ns();
    if (launch_run(home, command, output_fd, &result) < 0) {
        result.status = EXIT_FAILURE;
    }
    *seconds_out = (double)(bcs_clock_now_ns() - start_ns) / 1e9;
    if (result.status != 0) {
        output_show(output_fd);
        bcsrun_error("the %s run ended with status %d", name, result.status);
    } else if (result.is_interrupted) {
        bcsrun_error("interrupted");
        result.status = EXIT_FAILURE;
    }
    close(output_fd);
    return result.status;
}

static int seconds_compare(const void *left, const void *right)
{
    double difference = *(const double *)left - *(const double *)right;

    return (difference > 0) - (difference < 0);
}

/* Sorts the values. */
static double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, seconds_compare);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static void row_print(const char *name, double native_s, double bcs_s)
{
    printf("%-8s %12.3f %12.3f", name, native_s, bcs_s);
    if (native_s >= LEAST_S && bcs_s >= LEAST_S) {
        printf(" %12.3f\n", bcs_s / native_s);
    } else {
        printf(" %12s\n", "-"); /* no longer than the launcher */
    }
    fflush(stdout);
}

/* Run one pair of jobs or of launchers. Whoever goes second may find a warmer machine
 * or a hotter one: the sides take turns. */
static int pair_run(const struct launch_home *home, struct side sides[N_SIDES],
                    int pair, bool is_job)
{
    for (int i = 0; i < N_SIDES; i++) {
        struct side *side = &sides[(pair + i) % N_SIDES];
        int status =
            timed_run(home, is_job ? side->commands->job : side->commands->launcher,
                      side->name, &side->seconds[pair]);

        if (status != 0) {
            return status;
        }
    }
    return 0;
}

static int launchers_run(const struct launch_home *home, struct side sides[N_SIDES],
                         int n_pairs)
{
    for (int i = 0; i < n_pairs; i++) {
        int status = pair_run(home, sides, i, false);

        if (status != 0) {
            return status;
        }
    }
    for (int i = 0; i < N_SIDES; i++) {
        sides[i].launcher_s = median(sides[i].seconds, n_pairs);
    }
    return 0;
}

static int jobs_run(const struct launch_home *home, struct side sides[N_SIDES],
                    int n_pairs)
{
    printf("%-8s %12s %12s %12s\n", "pair", "native [s]", "BCS [s]", "BCS/native");
    for (int i = 0; i < n_pairs; i++) {
        char name[16];
        int status = pair_run(home, sides, i, true);

        if (status != 0) {
            return status;
        }
        snprintf(name, sizeof name, "%d", i + 1);
        row_print(name, sides[NATIVE].seconds[i], sides[BCS].seconds[i]);
    }
    for (int i = 0; i < N_SIDES; i++) {
        sides[i].job_s = median(sides[i].seconds, n_pairs);
    }
    return 0;
}

static int sides_run(const struct launch_home *home, struct side sides[N_SIDES],
                     int n_pairs)
{
    const struct side *native = &sides[NATIVE];
    const struct side *bcs = &sides[BCS];
    int status = jobs_run(home, sides, n_pairs);

    if (status == 0) {
        row_print("median", native->job_s, bcs->job_s);
        status = launchers_run(
            home, sides, n_pairs < MAX_LAUNCHER_PAIRS ? n_pairs : MAX_LAUNCHER_PAIRS);
    }
    if (status == 0) {
        row_print("launcher", native->launcher_s, bcs->launcher_s);
        row_print("program", native->job_s - native->launcher_s,
                  bcs->job_s - bcs->launcher_s);
    }
    return status;
}

int versus_run(const struct launch_home *home, const struct versus_commands *native,
               const struct versus_commands *bcs, int n_pairs)
{
    struct side sides[N_SIDES] = {
        [NATIVE] = {.name = "native", .commands = native},
        [BCS] = {.name = "BCS", .commands = bcs},
    };
    int status = EXIT_FAILURE;

    for (int i = 0; i < N_SIDES; i++) {
        sides[i].seconds = calloc((size_t)n_pairs, sizeof(double));
    }
    if (sides[NATIVE].seconds == NULL || sides[BCS].seconds == NULL) {
        bcsrun_error("out of memory");
    } else {
        status = sides_run(home, sides, n_pairs);
    }
    for (int i = 0; i < N_SIDES; i++) {
        free(sides[i].seconds);
    }
    return status;
}
