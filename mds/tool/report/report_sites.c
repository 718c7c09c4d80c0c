/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds report: the places in the program whose calls have cost most.
 */
#include <errno.h>
#include <stdlib.h>

#include "mds/tool/analysis/efficiency.h"
#include "mds/tool/analysis/site.h"
#include "mds/tool/report/html.h"
#include "mds/tool/report/report.h"

enum { MOST_ROWS = 30 };

/** @param run_ns, mpi_ns of all ranks together: all of the run, and all inside of
 *  calls.
 *  @return 0 or -ENOMEM */
static int print_row(FILE *out, const struct site *site, struct places *places,
                     double run_ns, double mpi_ns)
{
    char *place = site_place(site, places, NULL);
    double total_ns = (double)site->time.total_ns;

    if (place == NULL) {
        return -ENOMEM;
    }
    fprintf(out, "<tr><th>");
    html_text(out, site->primitive);
    fprintf(out, "<td class=\"text place\">");
    html_text(out, place);
    html_cell(out);
    html_count(out, site->time.count);
    html_cell(out);
    html_time(out, total_ns);
    html_percent_cell(out, efficiency_part(total_ns, run_ns));
    html_percent_cell(out, efficiency_part(total_ns, mpi_ns));
    html_cell(out);
    html_time(out, efficiency_part(total_ns, (double)site->time.count));
    fprintf(out, "<td>%.2f<td>%u", site->variation, site->most_rank);
    html_cell(out);
    html_time(out, (double)site->most_ns);
    html_cell(out);
    if (site->n_bytes > 0) {
        html_bytes(out, (double)site->n_bytes);
    }
    fprintf(out, "\n");
    free(place);
    return 0;
}

static int print_table(FILE *out, const struct run *run, const struct site *sites,
                       size_t n, struct places *places)
{
    double run_ns = run_total_ns(run, -1), mpi_ns = sites_total_ns(sites, n);
    int rc = 0;

    fprintf(out, "<h2>Places</h2>\n<div class=wide><table>\n<thead><tr><th>Primitive"
                 "<th class=text>Called from<th>Calls<th>Total<th>App&nbsp;%%"
                 "<th>MPI&nbsp;%%<th>Mean<th>COV<th>Rank<th>Its&nbsp;time<th>Bytes\n"
                 "<tbody>\n");
    for (size_t i = 0; i < n && i < MOST_ROWS && rc == 0; i++) {
        rc = print_row(out, &sites[i], places, run_ns, mpi_ns);
    }
    fprintf(
        out,
        "</table></div>\n<p>%zu of %zu places, by their total; the rank has most of "
        "it.%s</p>\n",
        n < MOST_ROWS ? n : MOST_ROWS, n, PLACE_NOTE);
    return rc;
}

int report_print_sites(FILE *out, const struct run *run)
{
    size_t n;
    struct site *sites = sites_of(run, -1, &n);
    struct places *places = place_open(PLACE_PATIENT_NS);
    int rc = sites == NULL || places == NULL ? -ENOMEM : 0;

    if (rc == 0 && n > 0) {
        rc = print_table(out, run, sites, n, places);
    }
    place_close(places);
    free(sites);
    return rc;
}
