/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The median, for all measuring programs.
 */
#ifndef BENCH_MEDIAN_H
#define BENCH_MEDIAN_H

#include <stdlib.h>

/** Order for qsort. */
static inline int median_compare(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/** The median of one value or more, which this puts in order. */
static inline double median_of(double values[], long n_values)
{
    qsort(values, (size_t)n_values, sizeof(values[0]), median_compare);
    return (values[(n_values - 1) / 2] + values[n_values / 2]) / 2;
}

#endif
