/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exact sums of whole numbers. Every rank runs it; no state but the caller's.
 */
#include "apps/sage/wide_sum.h"

#include "apps/sage/reduce.h"

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

void wide_sum_allreduce(const struct input *input, struct wide_sum *sums, int n)
{
    _Static_assert(sizeof(*sums) == 2 * sizeof(int64_t), "a sum is two words");

    for (int s = 0; s < n; s++) {
        pass_carry(&sums[s]);
    }
    reduce_all(input, sums, 2 * n, MPI_INT64_T, MPI_SUM);
    for (int s = 0; s < n; s++) {
        pass_carry(&sums[s]);
    }
}

bool wide_sum_is_equal(const struct wide_sum *a, const struct wide_sum *b)
{
    return a->high == b->high && a->low == b->low;
}

double wide_sum_value(const struct wide_sum *sum)
{
    return (double)sum->high * (double)(LOW_MASK + 1) + (double)sum->low;
}
