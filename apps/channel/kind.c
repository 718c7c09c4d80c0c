/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trips of a cache line, printed as the benchmarks do.
 */
#include "apps/channel/kind.h"

#include "apps/bench/line_trips.h"

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
    if (kind->n > 0 && kind->trip.rank == 0) {
        line_trips_print(8, kind->seconds, kind->n);
    }
    kind->n = 0;
}

void kind_fini(struct kind *kind)
{
    line_trip_fini(&kind->trip);
}
