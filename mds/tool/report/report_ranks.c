/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds report: how each rank has spent its time, as stacked bars and as a table. Of
 * many ranks a bar stands for several that follow each other, with their mean and their
 * range, and the table has those with the most and the least time outside of MPI.
 */
#include <errno.h>
#include <stdlib.h>

#include "mds/tool/analysis/efficiency.h"
#include "mds/tool/report/html.h"
#include "mds/tool/report/report.h"
#include "mds/tool/report/report_bars.h"

enum {
    MOST_ROWS = 32, /* of the table; of more ranks ... */
    N_ENDS = 10,    /* ... so many at either end */
};

/** @return 0 or -ENOMEM */
static int print_bars(FILE *out, const struct run *run)
{
    static const struct report_part parts[] = {
        {"outside of MPI", REPORT_OUTSIDE},
        {"in calls that do not block", REPORT_OTHER},
        {"in blocking calls", REPORT_BLOCKING},
    };
    enum { N_PARTS = sizeof(parts) / sizeof(parts[0]) };
    double *ns = calloc((size_t)run->n_files * N_PARTS, sizeof(*ns));

    if (ns == NULL) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < run->n_files; i++) {
        const struct mmds_summary *summary = &run->summaries[i];
        double *mine = ns + (size_t)i * N_PARTS;

        mine[0] = (double)efficiency_outside_ns(summary);
        mine[1] = (double)summary->instant_ns;
        mine[2] = (double)summary->communication.total_ns;
    }
    report_print_bars(out, run,
                      &(struct report_bars){
                          .parts = parts,
                          .n_parts = N_PARTS,
                          .n_ranged = 1,
                          .ranged = "their times outside",
                          .ns = ns,
                      });
    free(ns);
    return 0;
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
    if (summary->n_unended > 0) {
        fprintf(out, "<td>not known<td>not known");
    } else {
        html_cell(out);
        html_bytes(out, (double)process->peak_bytes);
        html_cell(out);
        html_count(out, process->n_slices);
    }
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
    return print_bars(out, run) < 0 ? -ENOMEM : print_table(out, run);
}
