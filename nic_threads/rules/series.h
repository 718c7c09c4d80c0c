/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A series: spans (libbcs/fabric/base/span.h) of a run that may take for ever, in
 * memory that does not grow. While there is room, a span is of one slice. When it is
 * full, all become coarser by half: two neighbours are put together, and spans are of
 * twice as many slices from then on.
 *
 * No slice waits for that. The memory has two halves, of which one is in use. When it
 * is full the other one is, and with each new span a few of the old ones are brought
 * over: so all are there long before the next time. Only after a gap, which there may
 * be by intervals of time, the rest is brought over at once. What stands in a place
 * from before is told by its number and length.
 *
 * Which half is in use is told by the length of spans alone: so one store is all of
 * that change, and whoever finds the memory when its recorder has died finds the state
 * before or after it.
 *
 * Pure code: under the lock of whoever records. [BCS-MPI section 5.2.1]
 */
#ifndef NIC_THREADS_RULES_SERIES_H
#define NIC_THREADS_RULES_SERIES_H

#include "libbcs/fabric/base/span.h"
#include "libbcs/fabric/ring/region.h"

/** Where the spans of a series stand: in a region of NIC memory or, for tests, in one
 *  piece. */
struct nic_spans {
    struct bcs_span *whole; /* NULL: in the region, */
    struct nic_region region;
    struct bcs_core *core;
    uint64_t first; /* from this number on */
};

/** What is recorded, and how far it has come. All zero at first but for the first
 *  three, and the spans, too. */
struct nic_series {
    uint64_t begin; /* the slices that are recorded: from this number on, */
    uint64_t end;   /* and before this one */
    uint64_t n;     /* spans of a half; even */
    uint64_t shift; /* a span is of 2^shift slices; half shift % 2 is in use */
    uint64_t
        n_brought; /* spans that were brought over since the begin: up to n shift */
};

/**
 * The span of a slice, to add to. Numbers should not fall; one that does still finds
 * its span.
 *
 * @return NULL: the slice is not recorded
 */
struct bcs_span *nic_series_find(struct nic_series *series,
                                 const struct nic_spans *spans, uint64_t slice);

/** Copy what is there, by number, without what nothing is recorded of. @param spans_out
 *  [2 n]
 *  @return how many; all of 2^shift slices */
size_t nic_series_copy(const struct nic_series *series, const struct nic_spans *spans,
                       struct bcs_span *spans_out);

#endif
