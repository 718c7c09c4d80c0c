/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The frame of every experiment: rounds over its points, a sample of each point in each
 * round, and a line of output for each sample. Runs on every rank, rank 0 prints.
 *
 * Round -1 is the first touch of the memory that messages arrive in: its pages are
 * given back before each point. It is measured and printed as the others are, and its
 * data are verified; whoever reads the output must not mix it with the others.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "apps/bench/clock.h"
#include "apps/bench/line_trip.h"
#include "apps/overhead/measure/counters.h"
#include "apps/overhead/measure/measure.h"

enum { FIRST_ROUND = -1, PAGE = 4096 };

/* What a rank tells of a sample: nanoseconds, then its counters. */
struct sample {
    double ns;
    double counted[N_RANK_COUNTERS];
};

enum { N_SAMPLE = sizeof(struct sample) / sizeof(double) };

struct frame {
    struct measure *measure;
    struct sample *ranks; /* of all, on rank 0 */
    struct line_trip trip;
    bool has_trip;
};

void *pages_get(size_t n_bytes)
{
    void *memory = aligned_alloc(PAGE, (n_bytes / PAGE + 1) * PAGE);

    if (memory == NULL) {
        fprintf(stderr, "overhead_measure: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        abort();
    }
    return memory;
}

/* Give the pages back that messages arrive in, so that the next touch is the first
 * one. */
static void target_give_back(const struct measure *measure)
{
    if (measure->n_target_bytes > 0 &&
        madvise(measure->target, measure->n_target_bytes, MADV_DONTNEED) != 0) {
        perror("overhead_measure: madvise");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
}

void point_add(struct measure *measure, struct point point)
{
    if (measure->n_points == measure->n_points_room) {
        long room = measure->n_points_room > 0 ? 2 * measure->n_points_room : 64;
        struct point *points = realloc(measure->points, (size_t)room * sizeof *points);

        if (points == NULL) {
            fprintf(stderr, "overhead_measure: out of memory\n");
            MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
            abort();
        }
        measure->points = points;
        measure->n_points_room = room;
    }
    measure->points[measure->n_points++] = point;
}

/* The injected slow-down: go on until the sample is so much longer. */
static double slow_down(const struct measure *measure, double start, double end)
{
    double until = end + (end - start) * measure->options.slow_percent / 100;
    double now = end;

    while (now < until) {
        now = bench_now_seconds();
    }
    return now;
}

/* Time a point once on this rank. */
static struct sample sample_take(struct measure *measure, const struct point *point)
{
    long before[N_RANK_COUNTERS], after[N_RANK_COUNTERS];
    struct sample sample;
    double start, end;

    measure->own_ns = -1;
    rank_counters_read(before);
    start = bench_now_seconds();
    measure->experiment->body(measure, point);
    end = bench_now_seconds();
    if (measure->options.slow_percent > 0) {
        end = slow_down(measure, start, end);
    }
    rank_counters_read(after);
    sample.ns = measure->own_ns >= 0
                    ? measure->own_ns * (1 + measure->options.slow_percent / 100)
                    : 1e9 * (end - start);
    for (int i = 0; i < N_RANK_COUNTERS; i++) {
        sample.counted[i] = (double)(after[i] - before[i]);
    }
    return sample;
}

/* The slowest rank's time, and the sums of the counters. */
static struct sample samples_join(const struct sample *ranks, int n_ranks)
{
    struct sample all = ranks[0];

    for (int i = 1; i < n_ranks; i++) {
        all.ns = ranks[i].ns > all.ns ? ranks[i].ns : all.ns;
        for (int j = 0; j < N_RANK_COUNTERS; j++) {
            all.counted[j] += ranks[i].counted[j];
        }
    }
    return all;
}

static void sample_print(const struct measure *measure, long round,
                         const struct sample *sample, const long *machine)
{
    const struct point *point = &measure->points[measure->n_point];

    printf("{\"overhead\":\"sample\",\"point\":%ld,\"round\":%ld,\"ns\":%.1f,"
           "\"units\":%ld,\"counted\":[",
           measure->n_point, round, sample->ns,
           measure->experiment->units(measure, point));
    for (int i = 0; i < N_RANK_COUNTERS; i++) {
        printf("%.0f,", sample->counted[i]);
    }
    for (int i = 0; i < N_MACHINE_COUNTERS; i++) {
        printf("%ld%s", machine[i], i + 1 < N_MACHINE_COUNTERS ? "," : "]}\n");
    }
}

/* One sample of the present point. @return the number of ranks with wrong data, looked
 * for in the first round only */
static int point_run(struct frame *frame, long round)
{
    struct measure *measure = frame->measure;
    const struct point *point = &measure->points[measure->n_point];
    long before[N_MACHINE_COUNTERS] = {0}, after[N_MACHINE_COUNTERS] = {0};
    struct sample sample, all;
    int is_wrong = 0, n_wrong = 0;

    if (round == FIRST_ROUND) {
        target_give_back(measure);
    }
    measure->experiment->prepare(measure, point);
    if (measure->rank == 0) {
        machine_counters_read(before);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    sample = sample_take(measure, point);
    if (measure->rank == 0) {
        machine_counters_read(after);
    }
    MPI_Gather(&sample, N_SAMPLE, MPI_DOUBLE, frame->ranks, N_SAMPLE, MPI_DOUBLE, 0,
               MPI_COMM_WORLD);
    if (measure->rank == 0) {
        all = samples_join(frame->ranks, measure->n_ranks);
        for (int i = 0; i < N_MACHINE_COUNTERS; i++) {
            after[i] -= before[i];
        }
        sample_print(measure, round, &all, after);
    }
    if (round == FIRST_ROUND && measure->experiment->check != NULL) {
        is_wrong = measure->experiment->check(measure, point) != 0;
        MPI_Allreduce(&is_wrong, &n_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    return n_wrong;
}

/* Where the cores are at present, of two ranks that have one each. */
static void trip_run(struct frame *frame)
{
    double seconds;

    if (!frame->has_trip) {
        return;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    seconds = line_trip_seconds(&frame->trip);
    if (frame->measure->rank == 0) {
        printf("{\"overhead\":\"trip\",\"ns\":%.1f}\n", 1e9 * seconds);
    }
}

/* Whether the time is up: rank 0 says it. */
static bool is_time_up(const struct measure *measure, double start)
{
    int is_up = bench_now_seconds() - start > measure->options.n_seconds;

    MPI_Bcast(&is_up, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return is_up != 0;
}

static bool is_one_core(const struct options *options)
{
    return options->n_cpus >= 2 && options->cpus[0] == options->cpus[1];
}

static int frame_run(struct frame *frame)
{
    struct measure *measure = frame->measure;
    double start = bench_now_seconds();
    int n_wrong = 0;

    for (long round = FIRST_ROUND; round < measure->options.n_rounds; round++) {
        for (long i = 0; i < measure->n_points && n_wrong == 0; i++) {
            measure->n_point = i;
            n_wrong = point_run(frame, round);
        }
        if (measure->rank == 0) {
            fflush(stdout);
        }
        if (n_wrong > 0 || (round != FIRST_ROUND && is_time_up(measure, start))) {
            break;
        }
    }
    return n_wrong;
}

static void points_print(const struct measure *measure)
{
    for (long i = 0; i < measure->n_points; i++) {
        printf("{\"overhead\":\"point\",\"at\":[");
        for (int j = 0; j < N_COORDINATES && measure->experiment->coordinates[j]; j++) {
            printf("%s%ld", j > 0 ? "," : "", measure->points[i].at[j]);
        }
        printf("]}\n");
    }
}

int rounds_run(struct measure *measure)
{
    struct frame frame = {.measure = measure};
    int n_wrong;

    frame.ranks = calloc((size_t)measure->n_ranks, sizeof *frame.ranks);
    if (frame.ranks == NULL) {
        fprintf(stderr, "overhead_measure: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        abort();
    }
    measure->experiment->points(measure);
    if (measure->rank == 0) {
        points_print(measure);
    }
    line_trip_init(&frame.trip, measure->rank, measure->n_ranks);
    frame.has_trip =
        line_trip_is_possible(&frame.trip) && !is_one_core(&measure->options);
    trip_run(&frame);
    n_wrong = frame_run(&frame);
    trip_run(&frame);
    line_trip_fini(&frame.trip);
    free(frame.ranks);
    return n_wrong;
}
