/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The experiments of one rank: the clock, and copies within memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "apps/bench/clock.h"
#include "apps/overhead/measure/measure.h"

enum { CLOCK_MONOTONIC_READ, CLOCK_MPI_WTIME, N_CLOCKS };
enum { WHAT_COST, WHAT_RESOLUTION, WHAT_GAP, WHAT_LOST, N_WHATS };

#define GAP_WINDOW_NS 10e6
#define GAP_LEAST_NS 1e3 /* a shorter one is no interruption */

/* Clock: coordinates are which clock, and what of it. */

static double clock_read_ns(long clock)
{
    return 1e9 * (clock == CLOCK_MPI_WTIME ? MPI_Wtime() : bench_now_seconds());
}

static void clock_points(struct measure *measure)
{
    for (long clock = 0; clock < N_CLOCKS; clock++) {
        for (long what = 0; what < N_WHATS; what++) {
            point_add(measure, (struct point){{clock, what}});
        }
    }
}

static void nothing_prepare(struct measure *measure, const struct point *point)
{
    (void)measure;
    (void)point;
}

/* The least step that the clock makes, in nanoseconds. */
static double resolution_find(long clock, long n_reads)
{
    double least = 1e9, before = clock_read_ns(clock), now;

    for (long i = 0; i < n_reads; i++) {
        now = clock_read_ns(clock);
        least = now > before && now - before < least ? now - before : least;
        before = now;
    }
    return least;
}

/* Read the clock for a while: the longest time between two reads, or the sum of all
 * that are no reads but interruptions. */
static double gaps_find(long clock, bool is_sum)
{
    double start = clock_read_ns(clock), before = start, now = start;
    double longest = 0, sum = 0;

    while (now - start < GAP_WINDOW_NS) {
        now = clock_read_ns(clock);
        longest = now - before > longest ? now - before : longest;
        sum += now - before > GAP_LEAST_NS ? now - before : 0;
        before = now;
    }
    return is_sum ? sum : longest;
}

static void clock_body(struct measure *measure, const struct point *point)
{
    long clock = point->at[0], n_reads = 100 * measure->options.n_iterations;
    volatile double kept;

    if (point->at[1] == WHAT_RESOLUTION) {
        measure->own_ns = resolution_find(clock, n_reads);
    } else if (point->at[1] != WHAT_COST) {
        measure->own_ns = gaps_find(clock, point->at[1] == WHAT_LOST);
    } else {
        for (long i = 0; i < n_reads; i++) {
            kept = clock_read_ns(clock);
        }
        (void)kept;
    }
}

static long clock_units(const struct measure *measure, const struct point *point)
{
    return point->at[1] == WHAT_COST ? 100 * measure->options.n_iterations : 1;
}

/* Copies: coordinates are bytes, offsets of source and target, and whether the target's
 * pages are new. */

static const long copy_lengths[] = {64,    256,    1024,    4096,   16384,
                                    65536, 262144, 1048576, 4194304};
static const long copy_offsets[] = {0, 1, 4, 8, 16, 32, 63, 4095};

enum {
    N_COPY_LENGTHS = sizeof copy_lengths / sizeof *copy_lengths,
    N_COPY_OFFSETS = sizeof copy_offsets / sizeof *copy_offsets,
    COPY_OFFSET_BYTES = 4096,  /* alignment is tried with a copy of a page ... */
    COPY_LONG_BYTES = 65536,   /* ... and with one of many */
    COPY_SAMPLE_BYTES = 65536, /* moved for each iteration asked for */
    /* More than any cache of a core holds of source and target: these come from
     * memory. */
    COPY_MEMORY_BYTES = 128 << 20,
    COPY_PATTERN_BYTES = 251 * 256 /* after so many the data are the same again */
};

static void copy_points(struct measure *measure)
{
    measure->n_source_bytes = measure->n_target_bytes = COPY_MEMORY_BYTES + 8192;
    measure->source = pages_get(measure->n_source_bytes);
    measure->target = pages_get(measure->n_target_bytes);
    for (int i = 0; i < N_COPY_LENGTHS; i++) {
        point_add(measure, (struct point){{copy_lengths[i], 0, 0, 0}});
        point_add(measure, (struct point){{copy_lengths[i], 0, 0, 1}});
    }
    point_add(measure, (struct point){{COPY_MEMORY_BYTES, 0, 0, 0}});
    for (int i = 0; i < N_COPY_OFFSETS; i++) {
        for (int j = 0; j < N_COPY_OFFSETS; j++) {
            if (i + j > 0 && (i == 0 || j == 0 || i == j)) {
                point_add(measure, (struct point){{COPY_OFFSET_BYTES, copy_offsets[i],
                                                   copy_offsets[j], 0}});
                point_add(measure, (struct point){{COPY_LONG_BYTES, copy_offsets[i],
                                                   copy_offsets[j], 0}});
            }
        }
    }
}

static long n_copies(const struct measure *measure, const struct point *point)
{
    long n = measure->options.n_iterations * COPY_SAMPLE_BYTES / point->at[0];

    if (point->at[3] != 0) {
        n /= 16; /* a new page takes much longer than the copy */
    }
    return n < 1 ? 1 : n;
}

static void copy_prepare(struct measure *measure, const struct point *point)
{
    unsigned char *source = measure->source + point->at[1];
    long n_bytes = point->at[0];

    for (long i = 0; i < n_bytes && i < COPY_PATTERN_BYTES; i++) {
        source[i] = (unsigned char)(1 + (i + 131 * measure->n_point) % 251);
    }
    for (long i = COPY_PATTERN_BYTES; i < n_bytes; i += COPY_PATTERN_BYTES) {
        long n_left = n_bytes - i;

        memcpy(source + i, source,
               (size_t)(n_left < COPY_PATTERN_BYTES ? n_left : COPY_PATTERN_BYTES));
    }
}

/* The compiler must take it that the bytes are looked at. */
static void bytes_use(const void *bytes)
{
    __asm__ volatile("" : : "r"(bytes) : "memory");
}

static void copy_fresh(const struct measure *measure, const struct point *point)
{
    size_t n_bytes = (size_t)point->at[0];
    void *fresh =
        mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (fresh == MAP_FAILED) {
        fprintf(stderr, "overhead_measure: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        abort();
    }
    memcpy(fresh, measure->source, n_bytes);
    bytes_use(fresh);
    munmap(fresh, n_bytes);
}

static void copy_body(struct measure *measure, const struct point *point)
{
    for (long i = 0; i < n_copies(measure, point); i++) {
        if (point->at[3] != 0) {
            copy_fresh(measure, point);
        } else {
            memcpy(measure->target + point->at[2], measure->source + point->at[1],
                   (size_t)point->at[0]);
            bytes_use(measure->target);
        }
    }
}

static int copy_check(struct measure *measure, const struct point *point)
{
    return point->at[3] == 0 &&
           memcmp(measure->target + point->at[2], measure->source + point->at[1],
                  (size_t)point->at[0]) != 0;
}

static long copy_units(const struct measure *measure, const struct point *point)
{
    return n_copies(measure, point) * point->at[0];
}

const struct experiment local_experiments[] = {
    {.name = "clock",
     .summary = "cost and resolution of the clocks, and what interrupts a rank",
     .coordinates = {"clock", "what"},
     .n_ranks_least = 1,
     .n_ranks_most = 1,
     .points = clock_points,
     .prepare = nothing_prepare,
     .body = clock_body,
     .units = clock_units},
    {.name = "memcpy",
     .summary = "copies by length, alignment, and into pages that are new",
     .coordinates = {"length", "source_offset", "target_offset", "fresh"},
     .n_ranks_least = 1,
     .n_ranks_most = 1,
     .points = copy_points,
     .prepare = copy_prepare,
     .body = copy_body,
     .check = copy_check,
     .units = copy_units},
    {.name = NULL},
};
