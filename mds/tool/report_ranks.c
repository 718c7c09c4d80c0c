/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds report: how each rank has spent its time, as stacked bars and as a table. Of many
 * ranks a bar stands for several that follow each other, with their mean and their range, and the
 * table has those with the most and the least time outside of MPI.
 */
#include <errno.h>
#include <stdlib.h>

#include "mds/tool/efficiency.h"
#include "mds/tool/html.h"
#include "mds/tool/report.h"

enum {
    MOST_BARS = 48,
    MOST_ROWS = 32, /* of the table; of more ranks ... */
    N_ENDS = 10,    /* ... so many at either end */
    LEFT = 80,      /* of the drawing: begin of the bars, */
    BAR = 700,      /* their width, */
    STEP = 16,      /* from one to the next, */
    HEIGHT = 12,    /* and their height */
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

/** A bar of the ranks from first on, n of them. @param unit  width of a nanosecond */
static void print_bar(FILE *out, const struct run *run, uint32_t first, uint32_t n,
                      double unit, double y)
{
    double outside = 0, blocking = 0, other = 0, least = 0, most = 0;

    for (uint32_t i = first; i < first + n; i++) {
        const struct mmds_summary *summary = &run->summaries[i];
        double mine = unit * (double)efficiency_outside_ns(summary);

        outside += mine / n;
        blocking += unit * (double)summary->communication.total_ns / n;
        other += unit * (double)summary->instant_ns / n;
        least = i == first || mine < least ? mine : least;
        most = mine > most ? mine : most;
    }
    fprintf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%u", LEFT - 8,
            y + HEIGHT - 2, run->files[first].process.rank);
    if (n > 1) {
        fprintf(out, "&#8211;%u", run->files[first + n - 1].process.rank);
    }
    fprintf(out, "</text>\n");
    print_part(out, LEFT, y, outside, REPORT_OUTSIDE);
    print_part(out, LEFT + outside, y, other, REPORT_OTHER);
    print_part(out, LEFT + outside + other, y, blocking, REPORT_BLOCKING);
    if (n > 1) {
        fprintf(out, "<path d=\"M%.1f %.1fH%.1f\" class=range />\n", LEFT + least,
                y + HEIGHT / 2.0, LEFT + most);
    }
}

static void print_bars(FILE *out, const struct run *run)
{
    double most_ns = 0;
    uint32_t n_each = (run->n_files + MOST_BARS - 1) / MOST_BARS;
    uint32_t n_bars = (run->n_files + n_each - 1) / n_each;

    for (uint32_t i = 0; i < run->n_files; i++) {
        const struct mmds_summary *summary = &run->summaries[i];
        double sum_ns = (double)efficiency_outside_ns(summary) +
                        (double)summary->instant_ns +
                        (double)summary->communication.total_ns;

        most_ns = sum_ns > most_ns ? sum_ns : most_ns;
    }
    fprintf(out,
            "<p class=legend><i style=\"background:%s\"></i>outside of MPI "
            "<i style=\"background:%s\"></i>in calls that do not block "
            "<i style=\"background:%s\"></i>in blocking calls%s</p>\n",
            REPORT_OUTSIDE, REPORT_OTHER, REPORT_BLOCKING,
            n_each > 1 ? "; each bar is the mean of several ranks, its line the range "
                         "of their times outside"
                       : "");
    fprintf(
        out,
        "<div class=wide><svg viewBox=\"0 0 %d %u\" preserveAspectRatio=\"xMinYMin\" "
        "role=\"img\">\n",
        LEFT + BAR + 4, n_bars * STEP);
    for (uint32_t i = 0; i < n_bars; i++) {
        uint32_t n = run->n_files - i * n_each;

        print_bar(out, run, i * n_each, n < n_each ? n : n_each,
                  BAR / (most_ns > 0 ? most_ns : 1), i * STEP);
    }
    fprintf(out, "</svg></div>\n");
}

/** A rank of the table. */
struct rank {
    uint32_t i; /* in run.files[] */
    uint64_t outside_ns;
};

static int compare(const void *left, const void *right)
{
    const struct rank *a = left, *b = right;

    if (a->outside_ns != b->outside_ns) {
        return a->outside_ns > b->outside_ns ? -1 : 1;
    }
    return a->i < b->i ? -1 : a->i > b->i;
}

static void print_row(FILE *out, const struct run *run, const struct rank *rank)
{
    const struct mmds_summary *summary = &run->summaries[rank->i];
    const struct mds_dump_process *process = &run->files[rank->i].process;
    double run_ns = (double)summary->run_ns;

    fprintf(out, "<tr><th>%u", process->rank);
    html_cell(out);
    html_time(out, run_ns);
    html_percent_cell(out, efficiency_part((double)rank->outside_ns, run_ns));
    html_percent_cell(out,
                      efficiency_part((double)summary->communication.total_ns, run_ns));
    html_percent_cell(out, efficiency_part((double)summary->instant_ns, run_ns));
    html_cell(out);
    html_bytes(out, (double)process->peak_bytes);
    html_cell(out);
    html_count(out, process->n_slices);
    fprintf(out, "<td class=text>");
    html_text(out, process->host);
    fprintf(out, "\n");
}

static int print_table(FILE *out, const struct run *run)
{
    struct rank *ranks = calloc(run->n_files, sizeof(*ranks));
    bool is_cut = run->n_files > MOST_ROWS;

    if (ranks == NULL) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < run->n_files; i++) {
        ranks[i].i = i;
        ranks[i].outside_ns = efficiency_outside_ns(&run->summaries[i]);
    }
    if (is_cut) {
        qsort(ranks, run->n_files, sizeof(*ranks), compare);
        fprintf(
            out,
            "<p>The %d ranks with the most time outside of MPI, and the %d with the "
            "least:</p>\n",
            N_ENDS, N_ENDS);
    }
    fprintf(out, "<div class=wide><table>\n<thead><tr><th>Rank<th>Run time<th>Outside "
                 "(%%)<th>Blocking (%%)<th>Other (%%)<th>Memory<th>Slices"
                 "<th class=text>Host\n<tbody>\n");
    for (uint32_t i = 0; i < run->n_files; i++) {
        if (!is_cut || i < N_ENDS || i >= run->n_files - N_ENDS) {
            print_row(out, run, &ranks[i]);
        } else if (i == N_ENDS) {
            fprintf(out, "<tr><th>&#8230;<td colspan=7>\n");
        }
    }
    fprintf(out, "</table></div>\n");
    free(ranks);
    return 0;
}

int report_print_ranks(FILE *out, const struct run *run)
{
    fprintf(out, "<h2>Time of each rank</h2>\n");
    print_bars(out, run);
    return print_table(out, run);
}
