/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds report: what stands out, and for whom ranks have waited, if events were
 * recorded.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mds/tool/analysis/efficiency.h"
#include "mds/tool/analysis/outstanding.h"
#include "mds/tool/analysis/waits.h"
#include "mds/tool/report/html.h"
#include "mds/tool/report/report.h"

enum { MOST_ROWS = 20 };

int report_print_place(FILE *out, const char *cell, const struct site *site,
                       struct places *places)
{
    char *words = site_words(site, places);

    if (words == NULL) {
        return -ENOMEM;
    }
    fprintf(out, "<%s class=\"text place\">", cell);
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
    rc = report_print_place(out, "td", &wait->waiting, places);
    if (rc == 0) {
        rc = report_print_place(out, "td", &wait->late, places);
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
    fprintf(out, "</table></div>\n<p>");
    waits_write_note(out, waits, MOST_ROWS);
    fprintf(out, "</p>\n");
    return rc;
}

int report_print_outstanding(FILE *out, const struct run *run,
                             const struct waits *waits)
{
    struct places *places = place_open(PLACE_PATIENT_NS);
    char *text = NULL;
    int rc = places == NULL ? -ENOMEM : outstanding_of(run, waits, places, &text);

    for (const char *at = text; rc == 0 && *at != '\0'; at += strlen(at) + 1) {
        fprintf(out, "%s<li>", at == text ? "<h2>What stands out</h2>\n<ul>\n" : "");
        html_text(out, at);
        fprintf(out, "</li>\n");
    }
    fprintf(out, "%s", rc == 0 && text[0] != '\0' ? "</ul>\n" : "");
    free(text);
    place_close(places);
    return rc;
}

int report_print_waits(FILE *out, const struct run *run, const struct waits *waits)
{
    struct places *places = place_open(PLACE_PATIENT_NS);
    int rc = places == NULL ? -ENOMEM : 0;

    if (rc == 0 && waits->n > 0) {
        rc = print_table(out, run, waits, places);
    }
    if (rc == 0 && waits->n_unread > 0) {
        fprintf(out, "<h2>Who is late</h2>\n<p>");
        waits_write_unread(out, waits);
        fprintf(out, "</p>\n");
    }
    place_close(places);
    return rc;
}
