/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Metrics against slice numbers; see slice_series.h.
 */
#include "mds/tool/analysis/slice_series.h"

#include <errno.h>
#include <stdlib.h>

static bool is_of(const struct node_file *file, int64_t node)
{
    return node < 0 || (!file->is_global && node == file->node.node);
}

/** The spans of one file, of 2^shift slices each, behind those that are there. */
static void add_file(struct series *series, const struct node_file *file,
                     uint32_t metric)
{
    struct bcs_span *mine = &series->spans[series->n];
    size_t n = file->spans.n;

    for (uint32_t i = 0; i < file->spans.n; i++) {
        struct mds_dump_span span = node_span(file, i);

        mine[i] = (struct bcs_span){
            .first = span.first,
            .shift = file->node.shift,
            .began = span.began,
            .n_slices = span.n_slices,
            .tallies = {node_tally(file, i, metric)},
        };
    }
    n = bcs_spans_coarsen(mine, n, file->node.window_first, series->shift);
    series->n = bcs_spans_add(series->spans, series->n, mine, n);
    series->interval = file->node.interval;
    series->is_time = node_metric_is_time(file, metric);
    series->is_unended |= node_is_unended(file);
}

/** Have each span be of so many slices that there are few enough. */
static void thin_out(struct series *series, uint64_t begin, size_t n_most)
{
    while (series->n > n_most && series->shift < 63) {
        series->shift++;
        series->n = bcs_spans_coarsen(series->spans, series->n, begin, series->shift);
    }
}

int series_of(const struct run *run, const char *metric, int64_t node, size_t n_most,
              struct series *series_out)
{
    struct series series = {0};
    size_t n_room = 1;
    uint64_t begin = 0;

    for (uint32_t i = 0; i < run->n_nodes; i++) {
        const struct node_file *file = &run->nodes[i];

        if (is_of(file, node) && node_find_metric(file, metric) < file->metrics.n) {
            n_room += file->spans.n;
            series.n_files++;
            series.shift =
                file->node.shift > series.shift ? file->node.shift : series.shift;
            begin = file->node.window_first;
        }
    }
    series.spans = calloc(n_room, sizeof(*series.spans));
    if (series.spans == NULL) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < run->n_nodes; i++) {
        const struct node_file *file = &run->nodes[i];
        uint32_t number = node_find_metric(file, metric);

        if (is_of(file, node) && number < file->metrics.n) {
            add_file(&series, file, number);
        }
    }
    thin_out(&series, begin, n_most);
    *series_out = series;
    return 0;
}

void series_fini(struct series *series)
{
    free(series->spans);
    series->spans = NULL;
}

struct emds_summary series_summary(const struct run *run)
{
    struct emds_summary summary = {0};

    for (uint32_t i = 0; i < run->n_nodes; i++) {
        const struct node_file *file = &run->nodes[i];

        summary.n_nodes += !file->is_global;
        summary.is_unended |= node_is_unended(file);
        summary.n_slices += file->is_global ? 0 : node_n_slices(file);
        for (enum bcs_metric metric = bcs_metrics_first(file->is_global);
             metric < bcs_metrics_end(file->is_global); metric++) {
            uint32_t number = node_find_metric(file, bcs_metric_name(metric));

            if (number < file->metrics.n) {
                struct bcs_tally sum = node_sum(file, number);

                bcs_tally_merge(&summary.tallies[metric], &sum);
            }
        }
    }
    return summary;
}
