/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long a cache line takes from one core to another and back, for each pair of the
 * cores that are named, or of all that this process may use. Two threads, each on one
 * of the cores, pass the line to and fro; one pair after the other, so that nothing
 * else is under way. A program of its own, without MPI, since it chooses its cores
 * itself.
 */
#define _GNU_SOURCE /* CPU_SET, pthread_attr_setaffinity_np */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/bench/line_trip.h"

enum { N_MEASUREMENTS = 5, STATUS_USAGE = 2 };

static int fail(const char *what, int cpu, int err)
{
    fprintf(stderr, "bench_core_trips: %s %d: %s\n", what, cpu, strerror(err));
    return EXIT_FAILURE;
}

/* Of several measurements the least: whatever disturbs one makes it longer. */
struct end {
    struct line_trip *trip;
    double seconds;
};

static void *end_run(void *arg)
{
    struct end *end = arg;

    end->seconds = line_trip_seconds(end->trip);
    for (int i = 1; i < N_MEASUREMENTS; i++) {
        double seconds = line_trip_seconds(end->trip);

        if (seconds < end->seconds) {
            end->seconds = seconds;
        }
    }
    return NULL;
}

/* Start an end on a CPU. Returns 0 or an errno value. */
static int end_start(struct end *end, int cpu, pthread_t *thread_out)
{
    pthread_attr_t attributes;
    cpu_set_t cpus;
    int err;

    CPU_ZERO(&cpus);
    CPU_SET(cpu, &cpus);
    err = pthread_attr_init(&attributes);
    if (err) {
        return err;
    }
    err = pthread_attr_setaffinity_np(&attributes, sizeof(cpus), &cpus);
    if (!err) {
        err = pthread_create(thread_out, &attributes, end_run, end);
    }
    pthread_attr_destroy(&attributes);
    return err;
}

/* Measure and print one pair. Returns the exit status. */
static int pair_run(const int cpus[2])
{
    struct line_trip trips[2];
    struct end ends[2] = {{.trip = &trips[0]}, {.trip = &trips[1]}};
    pthread_t threads[2];

    if (line_trip_share(trips) != 0) {
        return fail("no memory for CPU", cpus[0], errno);
    }
    for (int i = 0; i < 2; i++) {
        int err = end_start(&ends[i], cpus[i], &threads[i]);

        /* A first end that waits for a second one in vain ends with the process. */
        if (err) {
            return fail("no thread on CPU", cpus[i], err);
        }
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    line_trip_fini(&trips[0]);
    printf("core_trip_%d_%d 0 %.6g us\n", cpus[0], cpus[1], ends[0].seconds * 1e6);
    return EXIT_SUCCESS;
}

/* All CPUs that this process may use. Returns their number. */
static int cpus_allowed(int cpus[CPU_SETSIZE])
{
    cpu_set_t allowed;
    int n_cpus = 0;

    CPU_ZERO(&allowed);
    sched_getaffinity(0, sizeof(allowed), &allowed);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &allowed)) {
            cpus[n_cpus++] = cpu;
        }
    }
    return n_cpus;
}

/* The CPUs of the command line. Returns their number, -1 if one is none. */
static int cpus_parse(int argc, char **argv, int cpus[CPU_SETSIZE])
{
    for (int i = 1; i < argc; i++) {
        char *end;
        long cpu = strtol(argv[i], &end, 10);

        if (i > CPU_SETSIZE || *end || end == argv[i] || cpu < 0 ||
            cpu >= CPU_SETSIZE) {
            return -1;
        }
        cpus[i - 1] = (int)cpu;
    }
    return argc - 1;
}

int main(int argc, char **argv)
{
    static int cpus[CPU_SETSIZE];
    int n_cpus = argc > 1 ? cpus_parse(argc, argv, cpus) : cpus_allowed(cpus);
    int status = EXIT_SUCCESS;

    if (n_cpus < 0) {
        fputs("usage: bench_core_trips [CPU...]\n\n"
              "A cache line's round trip between each two of the CPUs (all).\n",
              stderr);
        return STATUS_USAGE;
    }
    for (int i = 0; i < n_cpus && status == EXIT_SUCCESS; i++) {
        for (int j = i + 1; j < n_cpus && status == EXIT_SUCCESS; j++) {
            status = pair_run((const int[]){cpus[i], cpus[j]});
        }
    }
    return status;
}
