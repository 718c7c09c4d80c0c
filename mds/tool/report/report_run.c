/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds report: what was run, and how efficiently.
 */
#include <stdlib.h>
#include <string.h>

#include "mds/tool/analysis/efficiency.h"
#include "mds/tool/read/manifest.h"
#include "mds/tool/report/html.h"
#include "mds/tool/report/report.h"

/** A row of two columns, the second of which is the caller's to print. */
static void begin_fact(FILE *out, const char *name)
{
    fprintf(out, "<tr><th>%s<td>", name);
}

/** A name of a setting, or its value. */
static void print_setting(FILE *out, const char *bytes, size_t n_bytes)
{
    char *text = manifest_unescape(bytes, n_bytes);

    html_text(out, text == NULL ? "" : text);
    free(text);
}

static bool is_on(const struct run *run, uint32_t i, const char *host)
{
    return strcmp(run->files[i].process.host, host) == 0;
}

/** How many hosts there are; ranks of one host follow each other. */
static uint32_t count_hosts(const struct run *run)
{
    uint32_t n = 1;

    for (uint32_t i = 1; i < run->n_files; i++) {
        n += !is_on(run, i, run->files[i - 1].process.host);
    }
    return n;
}

static void print_facts(FILE *out, const struct run *run)
{
    char state[16], written[64], version[64];
    uint32_t n_hosts = count_hosts(run);

    manifest_value(run->manifest, "state", 0, state, sizeof(state));
    manifest_value(run->manifest, "written", 0, written, sizeof(written));
    manifest_value(run->manifest, "version", 0, version, sizeof(version));
    fprintf(out, "<table class=facts>\n");
    begin_fact(out, "Ranks");
    fprintf(out, "%u", run->n_ranks);
    if (run->n_files < run->n_ranks) {
        fprintf(out, ", of which %u have a file", run->n_files);
    }
    begin_fact(out, "Hosts");
    html_text(out, run->files[0].process.host);
    if (n_hosts > 1) {
        fprintf(out, " and %u more", n_hosts - 1);
    }
    begin_fact(out, strcmp(state, "ended") == 0 ? "Ended" : "Not ended; written");
    html_text(out, written);
    begin_fact(out, "bcs");
    html_text(out, version);
    begin_fact(out, "Folder");
    html_text(out, run->folder);
    fprintf(out, "\n</table>\n");
}

/** A number with its name below. */
static void print_tile(FILE *out, const char *name, double part)
{
    fprintf(out, "<div class=tile><b>%.1f&nbsp;%%</b>%s</div>\n", 100 * part, name);
}

static void print_efficiency(FILE *out, const struct run *run)
{
    struct efficiency efficiency = efficiency_of(run);

    fprintf(out, "<div class=tiles>\n<div class=tile><b>");
    html_time(out, efficiency.run_ns);
    fprintf(out, "</b>run time</div>\n");
    print_tile(out, "parallel efficiency", efficiency.parallel);
    print_tile(out, "load balance", efficiency.balance);
    print_tile(out, "communication efficiency", efficiency.communication);
    fprintf(out,
            "</div>\n<p>Parallel efficiency is the ranks&#39; mean time outside of "
            "MPI by the run time: load balance (that mean by the longest) times "
            "communication efficiency (the longest by the run time).</p>\n");
}

void report_print_run(FILE *out, const struct run *run)
{
    print_efficiency(out, run);
    print_facts(out, run);
}

void report_print_settings(FILE *out, const struct run *run)
{
    static const char setting[] = "setting ";
    const char *at = run->manifest;
    struct manifest_line line;
    size_t n = sizeof(setting) - 1;

    fprintf(out, "<h2>Settings</h2>\n<p class=settings>\n");
    while (manifest_line(&at, &line)) {
        if (line.n_key_bytes >= n && memcmp(line.key, setting, n) == 0) {
            print_setting(out, line.key + n, line.n_key_bytes - n);
            fprintf(out, "<b>=</b>");
            print_setting(out, line.value, line.n_value_bytes);
            fprintf(out, "<br>\n");
        }
    }
    fprintf(out, "</p>\n");
}
