/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds report: for whom ranks have waited, of a run whose events were recorded.
 */
#include <errno.h>
#include <stdlib.h>

#include "mds/tool/efficiency.h"
#include "mds/tool/html.h"
#include "mds/tool/report.h"
#include "mds/tool/waits.h"

enum { MOST_ROWS = 20 };

/** A cell with a primitive and its place. @return 0 or -ENOMEM */
static int print_place(FILE *out, const struct site *site, struct places *places)
{
    char *words = site_place(site, places);

    if (words == NULL) {
        return -ENOMEM;
    }
    fprintf(out, "<td class=\"text place\">");
    html_text(out, site->primitive);
    fprintf(out, " at ");
    html_text(out, words);
    free(words);
    return 0;
}

static int print_row(FILE *out, const struct wait *wait, double run_ns,
                     struct places *places)
{
    int rc;

    fprintf(out, "<tr><th>%s", wait_names[wait->kind]);
    fprintf(out, "<td>%u", wait->late_rank);
    html_cell(out);
    html_time(out, (double)wait->total_ns);
    html_percent_cell(out, efficiency_part((double)wait->total_ns, run_ns));
    html_cell(out);
    html_count(out, wait->n);
    html_cell(out);
    html_time(out, (double)wait->most_ns);
    rc = print_place(out, &wait->waiting, places);
    if (rc == 0) {
        rc = print_place(out, &wait->late, places);
    }
    fprintf(out, "\n");
    return rc;
}

static int print_table(FILE *out, const struct run *run, const struct waits *waits,
                       struct places *places)
{
    double run_ns = run_total_ns(run, -1);
    int rc = 0;

    fprintf(out,
            "<h2>Who is late</h2>\n<div class=wide><table>\n<thead><tr><th>Which is"
            "<th>For&nbsp;rank<th>Waits<th>App&nbsp;%%<th>Times<th>Most"
            "<th class=text>Where<th class=text>For what\n<tbody>\n");
    for (size_t i = 0; i < waits->n && i < MOST_ROWS && rc == 0; i++) {
        rc = print_row(out, &waits->waits[i], run_ns, places);
    }
    fprintf(
        out,
        "</table></div>\n<p>%zu of %zu kinds of waits of ranks for others, the longest "
        "first.",
        waits->n < MOST_ROWS ? waits->n : MOST_ROWS, waits->n);
    if (waits->n_left_out > 0) {
        fprintf(
            out,
            " Messages of %u ranks are left out, which have made more calls than were "
            "kept.",
            waits->n_left_out);
    }
    fprintf(out, "</p>\n");
    return rc;
}

int report_print_waits(FILE *out, const struct run *run)
{
    struct places *places = place_open();
    struct waits waits = {0};
    int rc = places == NULL ? -ENOMEM : waits_of(run, &waits);

    if (rc == 0 && waits.n > 0) {
        rc = print_table(out, run, &waits, places);
    }
    waits_fini(&waits);
    place_close(places);
    return rc;
}
