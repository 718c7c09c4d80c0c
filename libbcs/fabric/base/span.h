/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spans: what was recorded of slices that follow each other, a power of two of them, by
 * the names of the paper. The engine fills them in NIC memory
 * (nic_threads/node/monitor.h), the MDS writes them into files. To put two together
 * loses no sum, no count and no extreme. Pure. [BCS-MPI section 5.2, tables 5.1 and
 * 5.2]
 */
#ifndef LIBBCS_FABRIC_BASE_SPAN_H
#define LIBBCS_FABRIC_BASE_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What is recorded of each slice: by the strobe sender, of all nodes, and by the
 *  strobe receiver, of its own. Those of the sender begin at 0, those of the receiver
 *  at BCS_METRICS_LOCAL. */
enum bcs_metric {
    BCS_METRIC_GETTS, /* from the begin of the slice before to that of this one */
    BCS_METRIC_GTDEM,
    BCS_METRIC_GTMSM,
    BCS_METRIC_GTTS,
    BCS_METRIC_USRTS, /* queries in vain whether all nodes are through: in other phases,
                       */
    BCS_METRIC_USRDEM,
    BCS_METRIC_USRMSM,
    BCS_METRICS_LOCAL,
    BCS_METRIC_LETTS = BCS_METRICS_LOCAL,
    BCS_METRIC_LTDEM,
    BCS_METRIC_LTMSM,
    BCS_METRIC_LTTS,
    BCS_METRIC_NP2PDEM,
    BCS_METRIC_NP2PMSM,
    BCS_METRIC_NCOLLDEM,
    BCS_METRIC_NCOLLMSM,
    BCS_METRIC_BPTS,
    BCS_METRIC_LTR, /* of the first role; the others follow in their order */
    BCS_METRICS = BCS_METRIC_LTR + 5,
};

enum { BCS_SPAN_TALLIES = BCS_METRICS - BCS_METRICS_LOCAL }; /* the larger of both */

/** Values that were added up: times in ticks, in what is read of a monitor in
 *  nanoseconds. */
struct bcs_tally {
    uint64_t count, total, least, most;
};

/** What was recorded of 2^shift slices, or intervals of time, from number `first` on,
 *  which is a multiple of that behind the first one that is recorded at all. */
struct bcs_span {
    uint64_t first;
    uint64_t shift;
    uint64_t began;    /* when the first of these slices did; 0: nothing is recorded */
    uint64_t n_slices; /* that there were */
    struct bcs_tally
        tallies[BCS_SPAN_TALLIES]; /* from the recorder's first metric on */
};

/** The name of a metric, as "LTDEM". */
const char *bcs_metric_name(enum bcs_metric metric);

/** Whether a metric is a time, or else a number. */
bool bcs_metric_is_time(enum bcs_metric metric);

/** The first metric of a recorder's spans, and behind the last one. */
static inline enum bcs_metric bcs_metrics_first(bool is_global)
{
    return is_global ? 0 : BCS_METRICS_LOCAL;
}

static inline enum bcs_metric bcs_metrics_end(bool is_global)
{
    return is_global ? BCS_METRICS_LOCAL : BCS_METRICS;
}

/** Spans of one recorder, or of several together. */
struct bcs_spans {
    struct bcs_span *spans; /* [n] by number; for free */
    size_t n;
    uint64_t shift; /* each is of 2^shift slices */
};

/** Add a value. */
static inline void bcs_tally_add(struct bcs_tally *tally, uint64_t value)
{
    if (tally->count++ == 0 || value < tally->least) {
        tally->least = value;
    }
    if (value > tally->most) {
        tally->most = value;
    }
    tally->total += value;
}

/** Add from to into; one of no values changes nothing. */
void bcs_tally_merge(struct bcs_tally *into, const struct bcs_tally *from);

/** Add what a span has to one that it is a part of. */
void bcs_span_merge(struct bcs_span *into, const struct bcs_span *from);

/**
 * Make spans coarser, in place: each of 2^shift slices from `begin` on.
 *
 * @param spans [n] by number, none finer than the one before; each starts at a multiple
 *               of its length behind begin
 * @return how many they are then
 */
size_t bcs_spans_coarsen(struct bcs_span *spans, size_t n, uint64_t begin,
                         uint64_t shift);

/** Add the spans of from to those of into, both by number and of one length. @param
 *  into has room for n_into + n_from @return how many there are then */
size_t bcs_spans_add(struct bcs_span *into, size_t n_into, const struct bcs_span *from,
                     size_t n_from);

/** Add the spans of from, which is freed, to into: both from slice `begin` on. @return
 *  0; -ENOMEM: into is as it was */
int bcs_spans_join(struct bcs_spans *into, struct bcs_spans *from, uint64_t begin);

/** Have times in ns that are in ticks: of spans of a strobe sender, or of a node. */
void bcs_spans_scale(const struct bcs_spans *spans, bool is_global, double ns_per_tick);

#endif
