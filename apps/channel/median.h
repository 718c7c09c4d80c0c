/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The median, for the measuring programs of this folder.
 */
#ifndef CHANNEL_MEDIAN_H
#define CHANNEL_MEDIAN_H

#include <stdlib.h>

/** Order for qsort. */
static inline int median_compare(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/** The median of n values, which this puts in order. */
static inline double median_of(double values[], int n)
{
    qsort(values, (size_t)n, sizeof(values[0]), median_compare);
    return values[n / 2];
}

#endif
