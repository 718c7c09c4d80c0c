/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long a cache line takes from the core of rank 0 to that of rank 1 and back, by
 * loads and stores alone. On virtual machines it changes with where the two cores
 * happen to be, and with it whatever two ranks do; so a measurement tells it beside its
 * own result.
 */
#ifndef BENCH_LINE_TRIP_H
#define BENCH_LINE_TRIP_H

struct line_trip_place;

/** A line of shared memory. */
struct line_trip {
    struct line_trip_place *place; /* NULL if it cannot be measured here */
    int rank;
    long n_trips; /* so far */
};

/**
 * Prepare. Collective over MPI_COMM_WORLD. It can be measured if there are two ranks on
 * one machine that has a core for each; nothing is left behind when the job ends.
 */
void line_trip_init(struct line_trip *trip, int rank, int n_ranks);

/** Prepare both ends for two threads of one process; the memory is given back by the
 * fini of one of them. @return 0, or -1 if there is no memory */
int line_trip_share(struct line_trip ends[2]);

/** Whether it can be measured; the same on both ranks. */
int line_trip_is_possible(const struct line_trip *trip);

/** Measure for about a millisecond. Both ranks call it. @return seconds of a round
 * trip, the median of a few stretches; only rank 0's counts */
double line_trip_seconds(struct line_trip *trip);

/** Give the memory back; of one that cannot be measured, too. */
void line_trip_fini(struct line_trip *trip);

#endif
