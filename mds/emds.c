/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of slices; see emds.h.
 */
#include "mds/emds.h"

#include <inttypes.h>

#define NS_PER_MS 1e6

void emds_add(struct emds_summary *summary, bool is_global,
              const struct bcs_span *spans, size_t n)
{
    enum bcs_metric first = bcs_metrics_first(is_global);

    summary->n_nodes += !is_global;
    for (size_t i = 0; i < n; i++) {
        summary->n_slices += is_global ? 0 : spans[i].n_slices;
        for (enum bcs_metric metric = first; metric < bcs_metrics_end(is_global);
             metric++) {
            bcs_tally_merge(&summary->tallies[metric],
                            &spans[i].tallies[metric - first]);
        }
    }
}

static void print_line(FILE *out, enum bcs_metric metric, const struct bcs_tally *tally)
{
    double average = (double)tally->total / (double)tally->count;

    if (bcs_metric_is_time(metric)) {
        fprintf(out, "%-16s %10.3f %11.3f %13.3f %10" PRIu64 " %12.3f\n",
                bcs_metric_name(metric), (double)tally->least / NS_PER_MS,
                (double)tally->most / NS_PER_MS, (double)tally->total / NS_PER_MS,
                tally->count, average / NS_PER_MS);
    } else {
        fprintf(out,
                "%-16s %10" PRIu64 " %11" PRIu64 " %13" PRIu64 " %10" PRIu64
                " %12.3f\n",
                bcs_metric_name(metric), tally->least, tally->most, tally->total,
                tally->count, average);
    }
}

void emds_print(FILE *out, const struct emds_summary *summary)
{
    bool has_title = false;

    for (enum bcs_metric metric = 0; metric < BCS_METRICS; metric++) {
        const struct bcs_tally *tally = &summary->tallies[metric];

        if (tally->count == 0) {
            continue;
        }
        if (!has_title) {
            fprintf(out,
                    "\nEMDS, all %" PRIu32 " nodes, %" PRIu64 " slices%s\n"
                    "%-16s %10s %11s %13s %10s %12s\n",
                    summary->n_nodes, summary->n_slices,
                    summary->is_unended ? ", of a run that has not ended" : "",
                    "Metric(ms or 1)", "Min", "Max", "Total", "Slices", "Average");
            has_title = true;
        }
        print_line(out, metric, tally);
    }
}
