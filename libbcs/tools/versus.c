/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times native runs and runs under BCS in turn, so that a disturbance of the machine
 * meets both, and compares medians. Called by bcsrun's main.
 */
#include "libbcs/tools/versus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libbcs/base/clock.h"
#include "libbcs/tools/bcsrun_error.h"
#include "libbcs/tools/launch_run.h"

/** Wall seconds of all runs so far. */
struct versus_times {
    double *native_s;
    double *bcs_s;
};

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
static int timed_run(char *const *command, const char *name, double *seconds_out)
{
    struct launch_result result;
    uint64_t start_ns;
    int output_fd = memfd_create("output", MFD_CLOEXEC);

    if (output_fd < 0) {
        bcsrun_error("cannot keep the output: %s", strerror(errno));
        return EXIT_FAILURE;
    }
    start_ns = bcs_clock_now_ns();
    if (launch_run(command, output_fd, &result) < 0) {
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
    printf("%-8s %12.3f %12.3f %12.3f\n", name, native_s, bcs_s, bcs_s / native_s);
    fflush(stdout);
}

static int pairs_run(char *const *native, char *const *bcs, int n_pairs,
                     const struct versus_times *times)
{
    printf("%-8s %12s %12s %12s\n", "pair", "native [s]", "BCS [s]", "BCS/native");
    for (int i = 0; i < n_pairs; i++) {
        char name[16];
        int status = timed_run(native, "native", &times->native_s[i]);

        if (status == 0) {
            status = timed_run(bcs, "BCS", &times->bcs_s[i]);
        }
        if (status != 0) {
            return status;
        }
        snprintf(name, sizeof name, "%d", i + 1);
        row_print(name, times->native_s[i], times->bcs_s[i]);
    }
    row_print("median", median(times->native_s, n_pairs),
              median(times->bcs_s, n_pairs));
    return EXIT_SUCCESS;
}

int versus_run(char *const *native, char *const *bcs, int n_pairs)
{
    struct versus_times times = {
        .native_s = calloc((size_t)n_pairs, sizeof(double)),
        .bcs_s = calloc((size_t)n_pairs, sizeof(double)),
    };
    int status = EXIT_FAILURE;

    if (times.native_s == NULL || times.bcs_s == NULL) {
        bcsrun_error("out of memory");
    } else {
        status = pairs_run(native, bcs, n_pairs, &times);
    }
    free(times.native_s);
    free(times.bcs_s);
    return status;
}
