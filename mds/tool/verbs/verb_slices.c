/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds slices: a metric of the EMDS against slice numbers, as a table, or as a
 * picture that gnuplot draws. [BCS-MPI section 5.3, figures 5.3 to 5.5]
 */
#include <inttypes.h>
#include <stdio.h>

#include "mds/tool/analysis/slice_series.h"
#include "mds/tool/verbs/drawing.h"
#include "mds/tool/verbs/verbs.h"

enum { USUAL_LINES = 50, MOST_POINTS = 4000 };

#define NS_PER_US 1e3
#define NS_PER_S 1e9

static double mean(const struct bcs_tally *tally)
{
    return (double)tally->total / (double)tally->count;
}

static void print_row(const struct bcs_span *span, bool is_time)
{
    const struct bcs_tally *tally = &span->tallies[0];
    double unit = is_time ? NS_PER_US : 1;
    int n_digits = is_time ? 3 : 0;

    printf("%12" PRIu64 " %12.6f %10" PRIu64, span->first,
           (double)span->began / NS_PER_S, tally->count);
    if (tally->count > 0) {
        printf(" %12.*f %12.3f %12.*f %14.*f", n_digits, (double)tally->least / unit,
               mean(tally) / unit, n_digits, (double)tally->most / unit, n_digits,
               (double)tally->total / unit);
    }
    printf("\n");
}

/** What a line of the table, or a point, is about. */
static void name_span(const struct series *series, char text_out[96])
{
    uint64_t n = UINT64_C(1) << series->shift;

    if (series->interval > 0) {
        snprintf(text_out, 96, "%" PRIu64 " interval%s of %.3f us", n,
                 n == 1 ? "" : "s", (double)series->interval / NS_PER_US);
    } else {
        snprintf(text_out, 96, "%" PRIu64 " slice%s", n, n == 1 ? "" : "s");
    }
}

static void print_table(const struct series *series, const char *metric)
{
    char span[96];

    name_span(series, span);
    printf("%s, %s, of %u file%s%s; a line is of %s\n", metric,
           series->is_time ? "us" : "number", series->n_files,
           series->n_files == 1 ? "" : "s",
           series->is_unended ? " of a run that has not ended" : "", span);
    printf("%12s %12s %10s %12s %12s %12s %14s\n", "First", "Begin(s)", "Slices", "Min",
           "Mean", "Max", "Total");
    for (size_t i = 0; i < series->n; i++) {
        print_row(&series->spans[i], series->is_time);
    }
}

static void write_script(FILE *out, const void *what)
{
    const struct series *series = what;
    double unit = series->is_time ? NS_PER_US : 1;
    char span[96];

    name_span(series, span);
    fprintf(out,
            "set xlabel '%s, a point is of %s'\nset ylabel '%s'\nset grid\n"
            "set key above\nset yrange [*<0:*]\n"
            "plot '-' using 1:2 title 'mean' with points pt 7 ps 0.35, "
            "'-' using 1:2 title 'most' with points pt 7 ps 0.2\n",
            series->interval > 0 ? "Interval of time" : "Number of the slice", span,
            series->is_time ? "us" : "number");
    for (int curve = 0; curve < 2; curve++) {
        for (size_t i = 0; i < series->n; i++) {
            const struct bcs_tally *tally = &series->spans[i].tallies[0];

            if (tally->count > 0) {
                fprintf(out, "%" PRIu64 " %.6g\n", series->spans[i].first,
                        (curve == 0 ? mean(tally) : (double)tally->most) / unit);
            }
        }
        fprintf(out, "e\n");
    }
}

/** Say which metrics there are. @return 1 */
static int refuse(const struct run *run, const struct verb_options *options)
{
    const char *before = "; there are";

    fprintf(stderr, "bcs-mds: %s has no metric %s", run->folder, options->metric);
    if (options->node >= 0) {
        fprintf(stderr, " of node %" PRId64, options->node);
    }
    for (enum bcs_metric metric = 0; metric < BCS_METRICS; metric++) {
        const char *name = bcs_metric_name(metric);

        for (uint32_t i = 0; i < run->n_nodes; i++) {
            if (node_find_metric(&run->nodes[i], name) < run->nodes[i].metrics.n) {
                fprintf(stderr, "%s %s", before, name);
                before = ",";
                break;
            }
        }
    }
    fprintf(stderr, "%s\n", run->n_nodes == 0 ? "; record with BCS_MDS=emds" : "");
    return 1;
}

int verb_slices(const struct run *run, const struct verb_options *options)
{
    size_t n_most = options->output != NULL ? MOST_POINTS : USUAL_LINES;
    struct series series;
    int status;

    if (options->n_most > 0) {
        n_most = (size_t)options->n_most;
    }
    if (series_of(run, options->metric, options->node, n_most, &series) < 0) {
        fprintf(stderr, "bcs-mds: no memory for the slices of %s\n", run->folder);
        return 1;
    }
    if (series.n_files == 0) {
        status = refuse(run, options);
    } else if (options->output != NULL) {
        status = drawing_make(options->output, options->metric, write_script, &series);
    } else {
        print_table(&series, options->metric);
        status = 0;
    }
    series_fini(&series);
    return status;
}
