/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Series; see the header.
 */
#include "nic_threads/rules/series.h"

#include <string.h>

enum {
    BROUGHT_AT_ONCE = 4
}; /* old spans, with each look for a new one; more than two */

static struct bcs_span *place(const struct nic_series *series,
                              const struct nic_spans *spans, uint64_t half,
                              uint64_t index)
{
    uint64_t number = half * series->n + index;

    return spans->whole != NULL ? &spans->whole[number]
                                : nic_region_at(&spans->region, spans->core,
                                                (uint32_t)(spans->first + number));
}

static uint64_t half_in_use(const struct nic_series *series)
{
    return series->shift % 2;
}

/** The place of the next old span to be brought over, one of the other half; n: there
 *  is none. */
static uint64_t next_old(const struct nic_series *series)
{
    return series->n_brought + series->n - series->n * series->shift;
}

/** Whether what stands in a place is what belongs there. */
static bool is_there(const struct nic_series *series, const struct bcs_span *span,
                     uint64_t index, uint64_t shift)
{
    return span->began != 0 && span->shift == shift &&
           span->first == series->begin + (index << shift);
}

/** The span at a place of the half in use; an empty one if there was none. */
static struct bcs_span *take(const struct nic_series *series,
                             const struct nic_spans *spans, uint64_t index)
{
    struct bcs_span *span = place(series, spans, half_in_use(series), index);

    if (!is_there(series, span, index, series->shift)) {
        *span = (struct bcs_span){
            .first = series->begin + (index << series->shift),
            .shift = series->shift,
        };
    }
    return span;
}

/** Bring some of the old spans over. */
static void bring(struct nic_series *series, const struct nic_spans *spans,
                  uint64_t n_most)
{
    uint64_t n_left = series->n - next_old(series);

    for (uint64_t n = n_left < n_most ? n_left : n_most; n > 0; n--) {
        uint64_t index = next_old(series);
        const struct bcs_span *old =
            place(series, spans, 1 - half_in_use(series), index);

        series->n_brought++;
        if (is_there(series, old, index, series->shift - 1)) {
            bcs_span_merge(take(series, spans, index / 2), old);
        }
    }
}

/** The half in use is full: go on in the other one, with spans of twice the length. */
static void halve(struct nic_series *series, const struct nic_spans *spans)
{
    bring(series, spans, series->n);
    series->shift++;
}

struct bcs_span *nic_series_find(struct nic_series *series,
                                 const struct nic_spans *spans, uint64_t slice)
{
    if (slice < series->begin || slice >= series->end) {
        return NULL;
    }
    while ((slice - series->begin) >> series->shift >= series->n) {
        halve(series, spans);
    }
    bring(series, spans, BROUGHT_AT_ONCE);
    return take(series, spans, (slice - series->begin) >> series->shift);
}

size_t nic_series_copy(const struct nic_series *series, const struct nic_spans *spans,
                       struct bcs_span *spans_out)
{
    size_t n_old = 0, n = 0;

    for (uint64_t i = next_old(series); i < series->n; i++) {
        const struct bcs_span *old = place(series, spans, 1 - half_in_use(series), i);

        if (is_there(series, old, i, series->shift - 1)) {
            spans_out[n_old++] = *old;
        }
    }
    n_old = bcs_spans_coarsen(spans_out, n_old, series->begin, series->shift);
    for (uint64_t i = 0; i < series->n; i++) {
        const struct bcs_span *span = place(series, spans, half_in_use(series), i);

        if (is_there(series, span, i, series->shift)) {
            memmove(&spans_out[n_old + n], span, sizeof(*span));
            n++;
        }
    }
    return bcs_spans_add(spans_out, n_old, &spans_out[n_old], n);
}
