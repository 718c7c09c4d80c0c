/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds report: what slices came to, and metrics against their numbers, if they were
 * recorded. [BCS-MPI section 5.3]
 */

#include "mds/tool/analysis/slice_series.h"
#include "mds/tool/report/html.h"
#include "mds/tool/report/report.h"

enum { WIDTH = 300, PLOT = 90, TOP = 18, BELOW = 20, MOST_POINTS = 300 };

/** Those that are drawn. */
static const char *const drawn[] = {"GETTS",    "GTTS",     "LTTS", "NP2PDEM",
                                    "NCOLLDEM", "NCOLLMSM", "BPTS"};

static void print_value(FILE *out, double value, bool is_time)
{
    html_cell(out);
    if (is_time) {
        html_time(out, value);
    } else {
        fprintf(out, "%.6g", value);
    }
}

static void print_row(FILE *out, enum bcs_metric metric, const struct bcs_tally *tally)
{
    bool is_time = bcs_metric_is_time(metric);

    fprintf(out, "<tr><th>%s", bcs_metric_name(metric));
    html_cell(out);
    html_count(out, tally->count);
    print_value(out, (double)tally->least, is_time);
    print_value(out, (double)tally->total / (double)tally->count, is_time);
    print_value(out, (double)tally->most, is_time);
    print_value(out, (double)tally->total, is_time);
    fprintf(out, "\n");
}

static void print_table(FILE *out, const struct run *run)
{
    struct emds_summary summary = series_summary(run);

    fprintf(out,
            "<div class=wide><table>\n<thead><tr><th>Metric<th>Slices<th>Least<th>Mean"
            "<th>Most<th>Total\n<tbody>\n");
    for (enum bcs_metric metric = 0; metric < BCS_METRICS; metric++) {
        if (summary.tallies[metric].count > 0) {
            print_row(out, metric, &summary.tallies[metric]);
        }
    }
    fprintf(out, "</table></div>\n");
}

/** The mean of a span's slices; 0 without any. */
static double mean(const struct bcs_span *span)
{
    const struct bcs_tally *tally = &span->tallies[0];

    return tally->count == 0 ? 0 : (double)tally->total / (double)tally->count;
}

static void print_line(FILE *out, const struct series *series, double most)
{
    double first = (double)series->spans[0].first;
    double width = (double)series->spans[series->n - 1].first - first;

    fprintf(out, "<path class=axis d=\"M0 %dH%d\"/>\n<path class=bars d=\"", TOP + PLOT,
            WIDTH);
    for (size_t i = 0; i < series->n; i++) {
        double part = width > 0 ? ((double)series->spans[i].first - first) / width : 0;
        double height = most > 0 ? PLOT * mean(&series->spans[i]) / most : 0;

        fprintf(out, "M%.1f %.1fh2v2h-2z", (WIDTH - 2) * part, TOP + PLOT - height - 1);
    }
    fprintf(out, "\"/>\n");
}

static void print_figure(FILE *out, const char *name, const struct series *series)
{
    const struct bcs_span *last = &series->spans[series->n - 1];
    double most = 0;

    for (size_t i = 0; i < series->n; i++) {
        most = mean(&series->spans[i]) > most ? mean(&series->spans[i]) : most;
    }
    fprintf(out, "<figure><figcaption><b>%s</b>, up to ", name);
    if (series->is_time) {
        html_time(out, most);
    } else {
        fprintf(out, "%.4g", most);
    }
    fprintf(out, "</figcaption>\n<svg viewBox=\"0 0 %d %d\" role=\"img\">\n", WIDTH,
            TOP + PLOT + BELOW);
    print_line(out, series, most);
    fprintf(out,
            "<text x=\"0\" y=\"%d\">%llu</text><text x=\"%d\" y=\"%d\" "
            "text-anchor=\"end\">%llu</text>\n</svg></figure>\n",
            TOP + PLOT + 17, (unsigned long long)series->spans[0].first, WIDTH,
            TOP + PLOT + 17, (unsigned long long)last->first);
}

int report_print_slices(FILE *out, const struct run *run)
{
    int rc = 0;

    if (run->n_nodes == 0) {
        return 0;
    }
    fprintf(out, "<h2>Slices</h2>\n");
    print_table(out, run);
    fprintf(
        out,
        "<p>%sMetrics by the number of the %s, of all nodes; each point is a mean of "
        "slices that follow each other.</p>\n<div class=figures>\n",
        node_is_unended(&run->nodes[0]) ? "The run has not ended. " : "",
        run->nodes[0].node.interval > 0 ? "interval of time" : "slice");
    for (size_t i = 0; i < sizeof(drawn) / sizeof(drawn[0]) && rc == 0; i++) {
        struct series series;

        rc = series_of(run, drawn[i], -1, MOST_POINTS, &series);
        if (rc == 0 && series.n > 0) {
            print_figure(out, drawn[i], &series);
        }
        if (rc == 0) {
            series_fini(&series);
        }
    }
    fprintf(out, "</div>\n");
    return rc;
}
