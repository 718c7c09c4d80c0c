/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stacked bars of ranks; see report_bars.h.
 */
#include "mds/tool/report/report_bars.h"

enum {
    MOST_BARS = 48,
    LEFT = 80,   /* of the drawing: begin of the bars, */
    BAR = 700,   /* their width, */
    STEP = 16,   /* from one to the next, */
    HEIGHT = 12, /* and their height */
};

static void print_part(FILE *out, double x, double y, double width, const char *colour)
{
    if (width > 0) {
        fprintf(out,
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" "
                "fill=\"%s\"/>\n",
                x, y, width, HEIGHT, colour);
    }
}

/** The first n parts of a rank together. */
static double sum_of(const struct report_bars *bars, uint32_t i, uint32_t n)
{
    double sum = 0;

    for (uint32_t part = 0; part < n; part++) {
        sum += bars->ns[(size_t)i * bars->n_parts + part];
    }
    return sum;
}

/** How bars are drawn. */
struct drawing {
    const struct run *run;
    const struct report_bars *bars;
    uint32_t n_each; /* ranks that a bar stands for, but for the last one */
    double unit;     /* width of a nanosecond */
};

/** The line for the range of the ranks from first on, n of them. */
static void print_range(FILE *out, const struct drawing *drawing, uint32_t first,
                        uint32_t n, double y)
{
    double least = 0, most = 0;

    for (uint32_t i = first; i < first + n; i++) {
        double mine = drawing->unit * sum_of(drawing->bars, i, drawing->bars->n_ranged);

        least = i == first || mine < least ? mine : least;
        most = mine > most ? mine : most;
    }
    fprintf(out, "<path d=\"M%.1f %.1fH%.1f\" class=range />\n", LEFT + least,
            y + HEIGHT / 2.0, LEFT + most);
}

/** The bar of a number, from 0. */
static void print_bar(FILE *out, const struct drawing *drawing, uint32_t number)
{
    const struct run *run = drawing->run;
    const struct report_bars *bars = drawing->bars;
    uint32_t first = number * drawing->n_each, n_left = run->n_files - first;
    uint32_t n = n_left < drawing->n_each ? n_left : drawing->n_each;
    double x = LEFT, y = number * STEP;

    fprintf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%u", LEFT - 8,
            y + HEIGHT - 2, run->files[first].process.rank);
    if (n > 1) {
        fprintf(out, "&#8211;%u", run->files[first + n - 1].process.rank);
    }
    fprintf(out, "</text>\n");
    for (uint32_t part = 0; part < bars->n_parts; part++) {
        double width = 0;

        for (uint32_t i = first; i < first + n; i++) {
            width += drawing->unit * bars->ns[(size_t)i * bars->n_parts + part] / n;
        }
        print_part(out, x, y, width, bars->parts[part].colour);
        x += width;
    }
    if (n > 1) {
        print_range(out, drawing, first, n, y);
    }
}

static void print_legend(FILE *out, const struct report_bars *bars, bool is_of_several)
{
    fprintf(out, "<p class=legend>");
    for (uint32_t part = 0; part < bars->n_parts; part++) {
        fprintf(out, "%s<i style=\"background:%s\"></i>%s", part > 0 ? " " : "",
                bars->parts[part].colour, bars->parts[part].name);
    }
    if (is_of_several) {
        fprintf(out,
                "; each bar is the mean of several ranks, its line the range of %s",
                bars->ranged);
    }
    fprintf(out, "</p>\n");
}

void report_print_bars(FILE *out, const struct run *run, const struct report_bars *bars)
{
    double most_ns = 0;
    uint32_t n_each = (run->n_files + MOST_BARS - 1) / MOST_BARS;
    uint32_t n_bars = (run->n_files + n_each - 1) / n_each;

    for (uint32_t i = 0; i < run->n_files; i++) {
        double sum_ns = sum_of(bars, i, bars->n_parts);

        most_ns = sum_ns > most_ns ? sum_ns : most_ns;
    }
    print_legend(out, bars, n_each > 1);
    fprintf(
        out,
        "<div class=wide><svg viewBox=\"0 0 %d %u\" preserveAspectRatio=\"xMinYMin\" "
        "role=\"img\">\n",
        LEFT + BAR + 4, n_bars * STEP);
    for (uint32_t i = 0; i < n_bars; i++) {
        print_bar(out,
                  &(struct drawing){
                      .run = run,
                      .bars = bars,
                      .n_each = n_each,
                      .unit = BAR / (most_ns > 0 ? most_ns : 1),
                  },
                  i);
    }
    fprintf(out, "</svg></div>\n");
}
