/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums of doubles without rounding errors, the same to the last bit in whatever order
 * the terms come and on however many processes they are spread.
 */
#ifndef COMMON_EXACT_SUM_H
#define COMMON_EXACT_SUM_H

#include <mpi.h>
#include <stdint.h>

/* 2 ^ (32 * n - 1074) is the unit of digit n; the last ones leave room for carries. */
#define EXACT_SUM_DIGITS 68

struct exact_sum {
    int64_t digits[EXACT_SUM_DIGITS];
    /* Number of terms that were infinite or not a number. */
    int64_t n_not_finite;
    /* Terms since carries were last passed on. */
    int64_t n_pending;
};

/** Set a sum to 0. */
void exact_sum_init(struct exact_sum *sum);

/** Add a term; never rounds. */
void exact_sum_add(struct exact_sum *sum, double term);

/** Add the sums of all ranks of MPI_COMM_WORLD, n of them by one reduction; collective,
 * all get the totals. */
void exact_sum_allreduce(struct exact_sum *sums, int n);

/** Begin the same, without waiting: until the end, the sums are MPI's. */
void exact_sum_allreduce_begin(struct exact_sum *sums, int n, MPI_Request *request);

/** Wait for the totals that are under way. */
void exact_sum_allreduce_end(struct exact_sum *sums, int n, MPI_Request *request);

/** The sum, rounded once to the nearest double; NaN if a term was not finite. */
double exact_sum_value(struct exact_sum *sum);

#endif
