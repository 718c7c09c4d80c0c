/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exact sums of whole numbers. Every rank runs it; no state but the caller's.
 */
#include "apps/sage/wide_sum.h"

#include <mpi.h>

#define LOW_BITS 32
#define LOW_MASK INT64_C(0xffffffff)

static void pass_carry(struct wide_sum *sum)
{
    int64_t low = sum->low & LOW_MASK;

    sum->high += (sum->low - low) / (LOW_MASK + 1);
    sum->low = low;
}

void wide_sum_add(struct wide_sum *sum, int64_t term)
{
    int64_t low = term & LOW_MASK;

    sum->high += (term - low) / (LOW_MASK + 1);
    sum->low += low;
}

struct wide_sum wide_sum_allreduce(const struct wide_sum *mine)
{
    struct wide_sum sum = *mine;
    int64_t halves[2];

    pass_carry(&sum);
    halves[0] = sum.high;
    halves[1] = sum.low;
    MPI_Allreduce(MPI_IN_PLACE, halves, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    sum.high = halves[0];
    sum.low = halves[1];
    pass_carry(&sum);
    return sum;
}

struct wide_sum wide_sum_plus(const struct wide_sum *a, const struct wide_sum *b)
{
    struct wide_sum sum = {a->high + b->high, a->low + b->low};

    pass_carry(&sum);
    return sum;
}

bool wide_sum_is_equal(const struct wide_sum *a, const struct wide_sum *b)
{
    return a->high == b->high && a->low == b->low;
}

double wide_sum_value(const struct wide_sum *sum)
{
    return (double)sum->high * (double)(LOW_MASK + 1) + (double)sum->low;
}
