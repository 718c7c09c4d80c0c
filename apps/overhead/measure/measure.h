/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of overhead_measure share: the options, an experiment as a table of
 * functions, and its points. A point is one setting of an experiment, a length say; it
 * is measured once in each round. Every rank runs the same code.
 */
#ifndef OVERHEAD_MEASURE_H
#define OVERHEAD_MEASURE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

enum { N_COORDINATES = 4, MAX_CPUS = 256 };

/** What the command line says. */
struct options {
    long n_iterations; /* messages of each rank, barriers or calls in one sample */
    long n_rounds;
    double n_seconds; /* no round begins after so long */
    long n_bytes_min, n_bytes_max, n_bytes_step;
    long n_matchings;
    long seed;
    double
        slow_percent; /* every sample is made longer by so much, to test comparisons */
    int n_cpus;       /* 0: ranks stay where the launcher has put them */
    int cpus[MAX_CPUS]; /* of each rank */
};

/** The values of the coordinates that an experiment names. */
struct point {
    long at[N_COORDINATES];
};

struct measure;

/** One kind of measurement. */
struct experiment {
    const char *name;
    const char *summary;
    const char *coordinates[N_COORDINATES]; /* NULL behind the last one */
    int n_ranks_least;
    int n_ranks_most; /* 0: any number */
    bool is_even;     /* the number of ranks must be */
    bool is_power;    /* of 2, it must be */

    /** Add all points by point_add(). */
    void (*points)(struct measure *measure);
    /** Get ready for a point, untimed. */
    void (*prepare)(struct measure *measure, const struct point *point);
    /** Carry it out, timed. */
    void (*body)(struct measure *measure, const struct point *point);
    /** Look at the data after the first body of a point; 0 if they are right. May be
     *  NULL. */
    int (*check)(struct measure *measure, const struct point *point);
    /** By what the time of a sample is to be divided. */
    long (*units)(const struct measure *measure, const struct point *point);
};

struct measure {
    const struct experiment *experiment;
    struct options options;
    int rank, n_ranks;
    struct point *points;
    long n_points, n_points_room;
    long n_point;  /* index of the present one */
    double own_ns; /* set by a body that measures by itself; else negative */

    /* Of the exchanges: partners in their order, and a request for each message. */
    int *partners;
    int n_partners;
    MPI_Request *requests;
    unsigned char *source, *target;
    size_t n_source_bytes, n_target_bytes;
};

/** The experiments, closed by one without a name. */
extern const struct experiment exchange_experiments[];
extern const struct experiment local_experiments[];

/** Memory that is aligned to a page and not touched; without memory the job ends. */
void *pages_get(size_t n_bytes);

/** Add a point. */
void point_add(struct measure *measure, struct point point);

/**
 * Measure all points in rounds and print a line for each sample on rank 0. Collective.
 * @return the number of ranks that have received wrong data, the same on all ranks
 */
int rounds_run(struct measure *measure);

#endif
