/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums of 64-bit numbers that cannot overflow: the upper and the lower halves of the
 * terms are added apart. Exact, so equal in whatever order and on however many ranks.
 */
#ifndef SAGE_WIDE_SUM_H
#define SAGE_WIDE_SUM_H

#include <stdbool.h>
#include <stdint.h>

#include "apps/sage/input.h"

/* high * 2^32 + low; low is below 2^32 after wide_sum_allreduce. */
struct wide_sum {
    int64_t high, low;
};

/** Add a term; up to 2^31 of them between two reductions. */
void wide_sum_add(struct wide_sum *sum, int64_t term);

/** Add the sums of all ranks of MPI_COMM_WORLD, n of them, by as many reductions as the
 * deck says; collective, all get the totals. */
void wide_sum_allreduce(const struct input *input, struct wide_sum *sums, int n);

/** Whether two reduced sums are the same number. */
bool wide_sum_is_equal(const struct wide_sum *a, const struct wide_sum *b);

/** The sum, rounded. */
double wide_sum_value(const struct wide_sum *sum);

#endif
