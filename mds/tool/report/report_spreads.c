/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds report: distributions as small drawings. Bars are the part of all values, the
 * line is the part of their sum, by values of a logarithmic scale with four bars to a
 * power of two.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "mds/histogram.h"
#include "mds/tool/analysis/efficiency.h"
#include "mds/tool/report/html.h"
#include "mds/tool/report/report.h"

enum {
    MOST_TIMES = 12, /* drawings of primitives, those with the longest total first */
    MOST_SIZES = 6,  /* those with the most bytes first */
    BITS = 2,        /* of the grid of bars */
    N_BARS_MOST = 192,
    WIDTH = 340,
    PLOT = 110, /* height of the bars, */
    TOP = 18,   /* what is above, */
    BELOW = 22, /* and below them */
};

/** A drawing: which bars there are, and the scale. */
struct plot {
    uint32_t first, last;                          /* buckets on the grid of bars */
    double counts[N_BARS_MOST], sums[N_BARS_MOST]; /* by bucket; parts of all */
    double from, to; /* logarithms of the values at either side */
    double most;     /* of all parts */
};

_Static_assert(N_BARS_MOST > (MDS_HISTOGRAM_VALUE_BITS - BITS + 1) << BITS,
               "one more than there are buckets");

static double x_of(const struct plot *plot, double value)
{
    double log = value > 0 ? log2(value) : plot->from;

    return WIDTH * (log - plot->from) / (plot->to - plot->from);
}

static double y_of(const struct plot *plot, double part)
{
    return TOP + PLOT * (1 - part / plot->most);
}

/** Bring a distribution, which is not empty, to the grid of bars. */
static void fill(struct plot *plot, const struct spread *spread)
{
    double sum = 0;

    *plot = (struct plot){.first = N_BARS_MOST};
    for (uint32_t i = 0; i < mds_histogram_n(spread->bits); i++) {
        double least = (double)mds_histogram_least(i, spread->bits);
        double below = (double)mds_histogram_least(i + 1, spread->bits);
        uint32_t bar = mds_histogram_bucket(mds_histogram_least(i, spread->bits), BITS);

        if (spread->counts[i] > 0) {
            plot->first = bar < plot->first ? bar : plot->first;
            plot->last = bar;
            plot->counts[bar] += (double)spread->counts[i];
            plot->sums[bar] += (double)spread->counts[i] * (least + below - 1) / 2;
        }
    }
    for (uint32_t i = plot->first; i <= plot->last; i++) {
        sum += plot->sums[i];
    }
    for (uint32_t i = plot->first; i <= plot->last; i++) {
        plot->counts[i] /= (double)spread->n;
        plot->sums[i] = efficiency_part(plot->sums[i], sum);
        plot->most = fmax(plot->most, fmax(plot->counts[i], plot->sums[i]));
    }
    plot->from = log2(fmax(1, (double)mds_histogram_least(plot->first, BITS))) - 0.25;
    plot->to = log2((double)mds_histogram_least(plot->last + 1, BITS)) + 0.25;
}

static void print_bars(FILE *out, const struct plot *plot)
{
    fprintf(out, "<path class=bars d=\"");
    for (uint32_t i = plot->first; i <= plot->last; i++) {
        double left = x_of(plot, (double)mds_histogram_least(i, BITS));
        double right = x_of(plot, (double)mds_histogram_least(i + 1, BITS));

        if (plot->counts[i] > 0) {
            fprintf(out, "M%.1f %dV%.1fH%.1fV%dz", left, TOP + PLOT,
                    y_of(plot, plot->counts[i]), right - 0.5, TOP + PLOT);
        }
    }
    fprintf(out, "\"/>\n<path class=sums d=\"M%.1f %d",
            x_of(plot, (double)mds_histogram_least(plot->first, BITS)), TOP + PLOT);
    for (uint32_t i = plot->first; i <= plot->last; i++) {
        fprintf(out, "V%.1fH%.1f", y_of(plot, plot->sums[i]),
                x_of(plot, (double)mds_histogram_least(i + 1, BITS)));
    }
    fprintf(out, "V%d\"/>\n", TOP + PLOT);
}

/** Powers of ten on the scale, not more than have room; of less than one power its
 *  ends. */
static void print_scale(FILE *out, const struct plot *plot, bool is_size)
{
    double decades = (plot->to - plot->from) / log2(10);
    double step = decades > 6 ? 1000 : decades > 3 ? 100 : decades > 1.2 ? 10 : 2;
    double value = step == 2 ? 1 : 0.001;

    fprintf(out, "<path class=axis d=\"M0 %dH%d\"/>\n", TOP + PLOT, WIDTH);
    while (log2(value) < plot->from) {
        value *= step;
    }
    for (; log2(value) <= plot->to; value *= step) {
        double x = x_of(plot, value);

        fprintf(out,
                "<path class=axis d=\"M%.1f %dv4\"/><text x=\"%.1f\" y=\"%d\" "
                "text-anchor=\"%s\">",
                x, TOP + PLOT, x, TOP + PLOT + 17,
                x < 16           ? "start"
                : x > WIDTH - 16 ? "end"
                                 : "middle");
        html_tick(out, value, is_size);
        fprintf(out, "</text>\n");
    }
}

static void print_value(FILE *out, const char *what, double value, bool is_size)
{
    fprintf(out, "%s", what);
    (is_size ? html_bytes : html_time)(out, value);
}

static void print_figure(FILE *out, const char *name, const struct spread *spread,
                         bool is_size)
{
    struct plot plot;

    if (spread->n == 0) {
        return;
    }
    fill(&plot, spread);
    fprintf(out, "<figure><figcaption><b>");
    html_text(out, name);
    fprintf(out, "</b> ");
    html_count(out, spread->n);
    print_value(out, ", median ", spread_quantile(spread, 0.5), is_size);
    print_value(out, ", 99&nbsp;% below ", spread_quantile(spread, 0.99), is_size);
    fprintf(out, "</figcaption>\n<svg viewBox=\"0 0 %d %d\" role=\"img\">\n", WIDTH,
            TOP + PLOT + BELOW);
    print_bars(out, &plot);
    print_scale(out, &plot, is_size);
    fprintf(out,
            "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" class=most>%.0f&nbsp;%%"
            "</text>\n</svg></figure>\n",
            WIDTH, TOP - 5, 100 * plot.most);
}

static int compare_bytes(const void *left, const void *right)
{
    const struct report_call *a = left, *b = right;

    return a->n_bytes > b->n_bytes ? -1 : a->n_bytes < b->n_bytes;
}

static int print_sizes(FILE *out, const struct run *run,
                       const struct report_call *calls, const struct spreads *spreads)
{
    struct report_call *by_bytes = calloc((size_t)run->n_names + 1, sizeof(*by_bytes));
    uint32_t n = 0;

    if (by_bytes == NULL) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < run->n_names; i++) {
        by_bytes[i] = calls[i];
    }
    qsort(by_bytes, run->n_names, sizeof(*by_bytes), compare_bytes);
    fprintf(out, "<h3>Lengths</h3>\n<div class=figures>\n");
    for (uint32_t i = 0; i < run->n_names && n < MOST_SIZES; i++) {
        const struct spread *spread = &spreads->sizes[by_bytes[i].number];

        print_figure(out, by_bytes[i].name, spread, true);
        n += spread->n > 0;
    }
    fprintf(out, "</div>\n");
    free(by_bytes);
    return 0;
}

int report_print_spreads(FILE *out, const struct run *run,
                         const struct report_call *calls)
{
    struct spreads spreads;
    uint32_t n = 0;
    int rc = spreads_of(run, run->files[0].process.histogram_bits, -1, &spreads);

    if (rc < 0) {
        return rc;
    }
    fprintf(out,
            "<h2>Distributions</h2>\n<p class=legend><i style=\"background:"
            "%s\"></i>part of all values <i class=line></i>part of their sum; "
            "the largest part at the right</p>\n<h3>Times</h3>\n"
            "<div class=figures>\n",
            REPORT_OUTSIDE);
    print_figure(out, "Computation granularity", &spreads.periods[0], false);
    print_figure(out, "Communication overhead", &spreads.periods[1], false);
    for (uint32_t i = 0; i < run->n_names && n < MOST_TIMES; i++) {
        const struct spread *spread = &spreads.times[calls[i].number];

        print_figure(out, calls[i].name, spread, false);
        n += spread->n > 0;
    }
    fprintf(out, "</div>\n");
    rc = print_sizes(out, run, calls, &spreads);
    spreads_fini(&spreads);
    return rc;
}
