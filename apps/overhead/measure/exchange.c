/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The experiments with messages. All exchanges are one: each rank has a list of
 * partners, posts all its receives, and then, in each iteration, sends to each partner
 * in turn and waits for what comes from it. They differ in who the partners are.
 */
#include <stdio.h>
#include <stdlib.h>

#include "apps/overhead/measure/matching.h"
#include "apps/overhead/measure/measure.h"

#define LINE 64u /* bytes; receives of different messages share none */

enum { PATTERN_PERIOD = 251 };

static unsigned char pattern_byte(long key, size_t i)
{
    return (unsigned char)(1 + ((size_t)key * 101 + i) % PATTERN_PERIOD);
}

/* The key of what a rank sends at the present point: no two points in a row, and no two
 * partners, have the same. */
static long key_of(const struct measure *measure, int rank)
{
    return rank + 131 * (measure->n_point + 1);
}

/* The length is the last coordinate of each experiment here. */
static size_t length_of(const struct measure *measure, const struct point *point)
{
    int last = 0;

    while (last + 1 < N_COORDINATES && measure->experiment->coordinates[last + 1]) {
        last++;
    }
    return (size_t)point->at[last];
}

static size_t stride_of(size_t n_bytes)
{
    return n_bytes == 0 ? LINE : (n_bytes + LINE - 1) / LINE * LINE;
}

static long n_messages(const struct measure *measure)
{
    return measure->options.n_iterations * measure->n_partners;
}

/* Room for the longest messages. */
static void room_make(struct measure *measure, int n_partners)
{
    size_t stride = stride_of((size_t)measure->options.n_bytes_max);
    size_t n = (size_t)measure->options.n_iterations * (size_t)n_partners;

    measure->partners = calloc((size_t)n_partners, sizeof *measure->partners);
    measure->requests = calloc(n, sizeof(MPI_Request));
    if (measure->partners == NULL || measure->requests == NULL) {
        fprintf(stderr, "overhead_measure: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    measure->n_partners = n_partners;
    measure->source = pages_get(stride);
    measure->n_target_bytes = n * stride;
    measure->target = pages_get(measure->n_target_bytes);
}

static void lengths_add(struct measure *measure, struct point point, int coordinate)
{
    const struct options *options = &measure->options;

    for (long n_bytes = options->n_bytes_min; n_bytes <= options->n_bytes_max;
         n_bytes += options->n_bytes_step) {
        point.at[coordinate] = n_bytes;
        point_add(measure, point);
    }
}

/* The two ranks of a pair. */
static void pair_points(struct measure *measure)
{
    room_make(measure, 1);
    measure->partners[0] = measure->rank ^ 1;
    lengths_add(measure, (struct point){0}, 0);
}

/* Each dimension once. [overhead paper, section 5] */
static void hypercube_points(struct measure *measure)
{
    int dimension = 0;

    while (1 << dimension < measure->n_ranks) {
        dimension++;
    }
    room_make(measure, dimension);
    for (int i = 0; i < dimension; i++) {
        measure->partners[i] = measure->rank ^ (1 << i);
    }
    lengths_add(measure, (struct point){0}, 0);
}

/* All pairs go over the middle of the chain. [overhead paper, section 7] */
static void chain_points(struct measure *measure)
{
    room_make(measure, 1);
    measure->partners[0] = measure->n_ranks - 1 - measure->rank;
    lengths_add(measure, (struct point){0}, 0);
}

/* All lengths for each matching. [overhead paper, section 6] */
static void matching_points(struct measure *measure)
{
    room_make(measure, 1);
    for (long number = 0; number < measure->options.n_matchings; number++) {
        lengths_add(measure, (struct point){{number}}, 1);
    }
}

static void source_fill(struct measure *measure, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++) {
        measure->source[i] = pattern_byte(key_of(measure, measure->rank), i);
    }
}

/* All receives are posted before any message is sent. [overhead paper, section 2] */
static void exchange_prepare(struct measure *measure, const struct point *point)
{
    size_t n_bytes = length_of(measure, point);

    source_fill(measure, n_bytes);
    for (long i = 0; i < n_messages(measure); i++) {
        MPI_Irecv(measure->target + (size_t)i * stride_of(n_bytes), (int)n_bytes,
                  MPI_BYTE, measure->partners[i % measure->n_partners], 0,
                  MPI_COMM_WORLD, &measure->requests[i]);
    }
}

static void matching_prepare(struct measure *measure, const struct point *point)
{
    int *order = calloc((size_t)measure->n_ranks, sizeof *order);

    if (order == NULL) {
        fprintf(stderr, "overhead_measure: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        abort();
    }
    measure->partners[0] =
        matching_partner((unsigned long)measure->options.seed, point->at[0],
                         measure->n_ranks, measure->rank, order);
    free(order);
    exchange_prepare(measure, point);
}

/* The two barriers count, as in the paper. */
static void exchange_body(struct measure *measure, const struct point *point)
{
    int n_bytes = (int)length_of(measure, point);

    MPI_Barrier(MPI_COMM_WORLD);
    for (long i = 0; i < n_messages(measure); i++) {
        MPI_Request sending;

        MPI_Isend(measure->source, n_bytes, MPI_BYTE,
                  measure->partners[i % measure->n_partners], 0, MPI_COMM_WORLD,
                  &sending);
        MPI_Wait(&measure->requests[i], MPI_STATUS_IGNORE);
        MPI_Wait(&sending, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static int message_check(const struct measure *measure, const unsigned char *data,
                         size_t n_bytes, int from)
{
    for (size_t i = 0; i < n_bytes; i++) {
        if (data[i] != pattern_byte(key_of(measure, from), i)) {
            fprintf(stderr,
                    "overhead_measure: %s: rank %d: byte %zu of a message of %zu bytes "
                    "from rank %d is wrong\n",
                    measure->experiment->name, measure->rank, i, n_bytes, from);
            return 1;
        }
    }
    return 0;
}

static int exchange_check(struct measure *measure, const struct point *point)
{
    size_t n_bytes = length_of(measure, point);

    for (long i = 0; i < n_messages(measure); i++) {
        if (message_check(measure, measure->target + (size_t)i * stride_of(n_bytes),
                          n_bytes, measure->partners[i % measure->n_partners]) != 0) {
            return 1;
        }
    }
    return 0;
}

static void pingpong_prepare(struct measure *measure, const struct point *point)
{
    source_fill(measure, length_of(measure, point));
}

static void pingpong_body(struct measure *measure, const struct point *point)
{
    int n_bytes = (int)length_of(measure, point), partner = measure->partners[0];

    for (long i = 0; i < measure->options.n_iterations; i++) {
        if (measure->rank < partner) {
            MPI_Send(measure->source, n_bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD);
        }
        MPI_Recv(measure->target, n_bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        if (measure->rank > partner) {
            MPI_Send(measure->source, n_bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD);
        }
    }
}

static int pingpong_check(struct measure *measure, const struct point *point)
{
    return message_check(measure, measure->target, length_of(measure, point),
                         measure->partners[0]);
}

/* Both directions of an iteration. */
static long message_units(const struct measure *measure, const struct point *point)
{
    (void)point;
    return 2 * measure->options.n_iterations;
}

static void barrier_points(struct measure *measure)
{
    point_add(measure, (struct point){{measure->n_ranks}});
}

static void barrier_prepare(struct measure *measure, const struct point *point)
{
    (void)measure;
    (void)point;
}

static void barrier_body(struct measure *measure, const struct point *point)
{
    (void)point;
    for (long i = 0; i < measure->options.n_iterations; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static long barrier_units(const struct measure *measure, const struct point *point)
{
    (void)point;
    return measure->options.n_iterations;
}

#define EXCHANGE                                                                       \
    .prepare = exchange_prepare, .body = exchange_body, .check = exchange_check,       \
    .units = message_units

const struct experiment exchange_experiments[] = {
    {.name = "exchange",
     .summary = "two ranks send to each other at once, receives are posted before",
     .coordinates = {"length"},
     .n_ranks_least = 2,
     .n_ranks_most = 2,
     .points = pair_points,
     EXCHANGE},
    {.name = "pingpong",
     .summary = "a message to and fro between two ranks, blocking",
     .coordinates = {"length"},
     .n_ranks_least = 2,
     .n_ranks_most = 2,
     .points = pair_points,
     .prepare = pingpong_prepare,
     .body = pingpong_body,
     .check = pingpong_check,
     .units = message_units},
    {.name = "barrier",
     .summary = "barriers, one after the other",
     .coordinates = {"processes"},
     .n_ranks_least = 1,
     .points = barrier_points,
     .prepare = barrier_prepare,
     .body = barrier_body,
     .units = barrier_units},
    {.name = "hypercube",
     .summary = "every rank exchanges over each dimension in turn",
     .coordinates = {"length"},
     .n_ranks_least = 2,
     .is_power = true,
     .points = hypercube_points,
     EXCHANGE},
    {.name = "matchings",
     .summary = "pairs chosen at random exchange, all at once",
     .coordinates = {"matching", "length"},
     .n_ranks_least = 2,
     .is_even = true,
     .points = matching_points,
     .prepare = matching_prepare,
     .body = exchange_body,
     .check = exchange_check,
     .units = message_units},
    {.name = "contention",
     .summary = "rank i of a chain of n exchanges with rank n - 1 - i",
     .coordinates = {"length"},
     .n_ranks_least = 2,
     .is_even = true,
     .points = chain_points,
     EXCHANGE},
    {.name = NULL},
};
