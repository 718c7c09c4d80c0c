/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spans; see span.h.
 */
#include "libbcs/fabric/base/span.h"

#include <errno.h>
#include <stdlib.h>

#include "libbcs/fabric/base/clock.h"

/* In the order of enum bcs_metric; the roles in that of enum nic_role. */
static const char *const names[BCS_METRICS] = {
    "GETTS",    "GTDEM", "GTMSM", "GTTS",  "USRTS",   "USRDEM",  "USRMSM",
    "LETTS",    "LTDEM", "LTMSM", "LTTS",  "NP2PDEM", "NP2PMSM", "NCOLLDEM",
    "NCOLLMSM", "BPTS",  "LTRBS", "LTRBR", "LTRDH",   "LTRCH",   "LTRRH",
};

const char *bcs_metric_name(enum bcs_metric metric)
{
    return names[metric];
}

bool bcs_metric_is_time(enum bcs_metric metric)
{
    return metric <= BCS_METRIC_GTTS ||
           (metric >= BCS_METRIC_LETTS && metric <= BCS_METRIC_LTTS) ||
           metric >= BCS_METRIC_LTR;
}

void bcs_tally_merge(struct bcs_tally *into, const struct bcs_tally *from)
{
    if (from->count == 0) {
        return;
    }
    if (into->count == 0 || from->least < into->least) {
        into->least = from->least;
    }
    if (from->most > into->most) {
        into->most = from->most;
    }
    into->count += from->count;
    into->total += from->total;
}

void bcs_span_merge(struct bcs_span *into, const struct bcs_span *from)
{
    if (into->began == 0 || (from->began != 0 && from->began < into->began)) {
        into->began = from->began;
    }
    into->n_slices += from->n_slices;
    for (int i = 0; i < BCS_SPAN_TALLIES; i++) {
        bcs_tally_merge(&into->tallies[i], &from->tallies[i]);
    }
}

size_t bcs_spans_coarsen(struct bcs_span *spans, size_t n, uint64_t begin,
                         uint64_t shift)
{
    size_t n_out = 0;

    for (size_t i = 0; i < n; i++) {
        struct bcs_span span = spans[i];

        span.first = begin + ((span.first - begin) >> shift << shift);
        span.shift = shift;
        if (n_out > 0 && spans[n_out - 1].first == span.first) {
            bcs_span_merge(&spans[n_out - 1], &span);
        } else {
            spans[n_out++] = span;
        }
    }
    return n_out;
}

static int compare(const void *left, const void *right)
{
    uint64_t a = ((const struct bcs_span *)left)->first;
    uint64_t b = ((const struct bcs_span *)right)->first;

    return a < b ? -1 : a > b;
}

size_t bcs_spans_add(struct bcs_span *into, size_t n_into, const struct bcs_span *from,
                     size_t n_from)
{
    size_t n = n_into;

    for (size_t i = 0; i < n_from; i++) {
        struct bcs_span *same =
            n_into == 0 ? NULL
                        : bsearch(&from[i], into, n_into, sizeof(*into), compare);

        if (same != NULL) {
            bcs_span_merge(same, &from[i]);
        } else {
            into[n++] = from[i];
        }
    }
    qsort(into, n, sizeof(*into), compare);
    return n;
}

int bcs_spans_join(struct bcs_spans *into, struct bcs_spans *from, uint64_t begin)
{
    struct bcs_span *spans =
        realloc(into->spans, (into->n + from->n + 1) * sizeof(*spans));

    if (spans != NULL) {
        uint64_t shift = into->shift > from->shift ? into->shift : from->shift;

        into->spans = spans;
        into->n = bcs_spans_coarsen(spans, into->n, begin, shift);
        from->n = bcs_spans_coarsen(from->spans, from->n, begin, shift);
        into->n = bcs_spans_add(spans, into->n, from->spans, from->n);
        into->shift = shift;
    }
    free(from->spans);
    from->spans = NULL;
    return spans == NULL ? -ENOMEM : 0;
}

static void scale(struct bcs_span *span, bool is_global, double ns_per_tick)
{
    enum bcs_metric first = bcs_metrics_first(is_global);

    span->began = bcs_clock_in_ns(span->began, ns_per_tick);
    for (enum bcs_metric metric = first; metric < bcs_metrics_end(is_global);
         metric++) {
        struct bcs_tally *tally = &span->tallies[metric - first];

        if (bcs_metric_is_time(metric)) {
            tally->total = bcs_clock_in_ns(tally->total, ns_per_tick);
            tally->least = bcs_clock_in_ns(tally->least, ns_per_tick);
            tally->most = bcs_clock_in_ns(tally->most, ns_per_tick);
        }
    }
}

void bcs_spans_scale(const struct bcs_spans *spans, bool is_global, double ns_per_tick)
{
    for (size_t i = 0; i < spans->n; i++) {
        scale(&spans->spans[i], is_global, ns_per_tick);
    }
}
