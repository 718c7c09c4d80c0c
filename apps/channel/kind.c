/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trips of a cache line, printed as the benchmarks do.
 */
#include "apps/channel/kind.h"

#include <stdio.h>

#include "apps/bench/median.h"

void kind_init(struct kind *kind, int rank, int size)
{
    line_trip_init(&kind->trip, rank, size);
}

void kind_look(struct kind *kind)
{
    if (kind->n < KIND_LOOKS_MOST && line_trip_is_possible(&kind->trip)) {
        kind->seconds[kind->n++] = line_trip_seconds(&kind->trip);
    }
}

void kind_print(struct kind *kind)
{
    int n = kind->n;
    double middle;

    kind->n = 0;
    if (n == 0 || kind->trip.rank != 0) {
        return;
    }
    middle = median_of(kind->seconds, n);
    printf("line_trip 8 %.4f us\n", 1e6 * middle);
    printf("line_trip_spread 8 %.3f times\n",
           kind->seconds[n - 1 - n / 4] / kind->seconds[n / 4]);
}

void kind_fini(struct kind *kind)
{
    line_trip_fini(&kind->trip);
}
