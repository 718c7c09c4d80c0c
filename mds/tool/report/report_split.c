/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds report: what blocking calls have waited for, by rank, as stacked bars and as
 * a table, by call, and by place. Of many ranks the table has those that others have
 * waited for longest.
 */
#include <errno.h>
#include <stdlib.h>

#include "mds/tool/analysis/split_read.h"
#include "mds/tool/report/html.h"
#include "mds/tool/report/report.h"
#include "mds/tool/report/report_bars.h"

enum {
    MOST_RANKS = 32,
    MOST_PLACES = 20,
};

/** Of parts that stand beside each other one is darker on paper without colours,
 *  too. */
static const char *const colours[MDS_N_PARTS] = {
    [MDS_PART_SENDER] = "#d55e00",     [MDS_PART_RECEIVER] = "#f0e442",
    [MDS_PART_COLLECTIVE] = "#4b2e83", [MDS_PART_SLICE] = "#56b4e9",
    [MDS_PART_TRANSFER] = "#9bd3a0",   [MDS_PART_OTHER] = "#666",
};

/** @return 0 or -ENOMEM */
static int print_bars(FILE *out, const struct run *run, const struct split_rank *ranks)
{
    struct report_part parts[MDS_N_PARTS];
    double *ns = calloc((size_t)run->n_files * MDS_N_PARTS, sizeof(*ns));

    if (ns == NULL) {
        return -ENOMEM;
    }
    for (int part = 0; part < MDS_N_PARTS; part++) {
        parts[part] = (struct report_part){split_names[part], colours[part]};
        for (uint32_t i = 0; i < run->n_files; i++) {
            ns[(size_t)i * MDS_N_PARTS + part] = (double)ranks[i].own.ns[part];
        }
    }
    report_print_bars(out, run,
                      &(struct report_bars){
                          .parts = parts,
                          .n_parts = MDS_N_PARTS,
                          .n_ranged = MDS_DUMP_LATE,
                          .ranged = "their waits for late ranks",
                          .ns = ns,
                      });
    free(ns);
    return 0;
}

static void print_times(FILE *out, const uint64_t *ns, int n)
{
    for (int i = 0; i < n; i++) {
        html_cell(out);
        html_time(out, (double)ns[i]);
    }
}

/** The head of a table. @param first of its columns; behind it are the first n parts,
 *  and more */
static void print_head(FILE *out, const char *first, int n, const char *more)
{
    fprintf(out, "<div class=wide><table>\n<thead><tr><th>%s", first);
    for (int part = 0; part < n; part++) {
        fprintf(out, "<th>%s", split_names[part]);
    }
    fprintf(out, "%s\n<tbody>\n", more);
}

/** Those that others have waited for longest first. */
static int compare_others(const void *left, const void *right)
{
    const struct split_rank *a = left, *b = right;
    uint64_t a_ns = split_late_ns(a->others_ns), b_ns = split_late_ns(b->others_ns);

    if (a_ns != b_ns) {
        return a_ns > b_ns ? -1 : 1;
    }
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/** @param ranks  in the order of ranks; of many they are put in another one */
static void print_ranks(FILE *out, const struct run *run, struct split_rank *ranks)
{
    uint32_t n = run->n_files < MOST_RANKS ? run->n_files : MOST_RANKS;

    if (n < run->n_files) {
        qsort(ranks, run->n_files, sizeof(*ranks), compare_others);
        fprintf(out, "<p>The %u ranks that others have waited for longest:</p>\n", n);
    }
    print_head(out, "Rank", MDS_N_PARTS,
               "<th>for it: as sender<th>as receiver<th>in collective");
    for (uint32_t i = 0; i < n; i++) {
        fprintf(out, "<tr><th>%u", ranks[i].rank);
        print_times(out, ranks[i].own.ns, MDS_N_PARTS);
        print_times(out, ranks[i].others_ns, MDS_DUMP_LATE);
        fprintf(out, "\n");
    }
    fprintf(
        out,
        "</table></div>\n<p>The time of all blocking calls of a rank, by what they "
        "have waited for: a sender or receiver that was late, the last rank of a "
        "collective, the begin of a timed slice; the rest is transfer. <i>For it</i> "
        "is how long others have waited for the rank.</p>\n");
}

static void print_calls(FILE *out, const struct run *run,
                        const struct report_call *calls)
{
    print_head(out, "Primitive", MDS_N_PARTS, "");
    for (uint32_t i = 0; i < run->n_names; i++) {
        if (mmds_split_total_ns(&calls[i].split) > 0) {
            fprintf(out, "<tr><th>");
            html_text(out, calls[i].name);
            print_times(out, calls[i].split.ns, MDS_N_PARTS);
            fprintf(out, "\n");
        }
    }
    fprintf(out, "</table></div>\n");
}

/** @return 0 or -ENOMEM */
static int print_place(FILE *out, const struct site *site, struct places *places)
{
    int rc;

    fprintf(out, "<tr>");
    rc = report_print_place(out, "th", site, places);
    if (rc != 0) {
        return rc;
    }
    print_times(out, site->split.ns, MDS_PART_OTHER);
    if (site->fault.ticks > 0) {
        fprintf(out, "<td>%u", site->fault.rank);
        html_cell(out);
        html_time(out, (double)site->fault.ticks);
    } else {
        fprintf(out, "<td>&#8211;<td>&#8211;");
    }
    fprintf(out, "\n");
    return 0;
}

/** @return 0 or -ENOMEM */
static int print_places(FILE *out, const struct run *run)
{
    size_t n = 0;
    struct site *sites = split_sites(run, -1, &n);
    struct places *places = place_open(PLACE_PATIENT_NS);
    int rc = sites == NULL || places == NULL ? -ENOMEM : 0;

    if (rc == 0 && n > 0) {
        size_t n_shown = n < MOST_PLACES ? n : MOST_PLACES;

        print_head(out, "Waited in", MDS_PART_OTHER,
                   "<th>for&nbsp;rank<th>at&nbsp;least");
        for (size_t i = 0; i < n_shown && rc == 0; i++) {
            rc = print_place(out, &sites[i], places);
        }
        fprintf(out,
                "</table></div>\n<p>%zu of %zu places where late ranks were waited "
                "for, by how long. <i>For rank</i> is the one that was waited for more "
                "than half of that time, if one was.%s</p>\n",
                n_shown, n, PLACE_NOTE);
    }
    place_close(places);
    free(sites);
    return rc;
}

int report_print_split(FILE *out, const struct run *run,
                       const struct report_call *calls)
{
    struct split_rank *ranks;
    int rc;

    if (!split_is_in_any(run)) {
        return 0;
    }
    ranks = split_ranks(run);
    if (ranks == NULL) {
        return -ENOMEM;
    }
    fprintf(out, "<h2>What calls wait for</h2>\n");
    rc = print_bars(out, run, ranks);
    if (rc == 0) {
        print_ranks(out, run, ranks);
        print_calls(out, run, calls);
        rc = print_places(out, run);
    }
    free(ranks);
    return rc;
}
