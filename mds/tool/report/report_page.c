/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pages about a run: how each one begins, and the sections about what was recorded. A
 * page needs no network and no script, and can be printed. One thread.
 */
#include "mds/tool/report/report_page.h"

#include <errno.h>
#include <stdlib.h>

#include "mds/tool/report/html.h"
#include "mds/tool/report/report.h"

/** The page's beginning: nothing may be loaded from anywhere. */
static const char head[] =
    "<!DOCTYPE html>\n"
    "<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "style-src 'unsafe-inline'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<style>\n"
    "body { font: 15px/1.4 sans-serif; color: #222; background: #fff;\n"
    "  max-width: 1000px; margin: 0 auto; padding: 16px }\n"
    "h1 { font: bold 20px/1.3 monospace; overflow-wrap: anywhere }\n"
    "h2 { font-size: 19px; margin: 32px 0 8px; border-bottom: 1px solid #bbb }\n"
    "h3 { font-size: 16px; margin: 16px 0 8px }\n"
    "h2, h3, .legend { break-after: avoid }\n"
    "p { margin: 8px 0 }\n"
    "li { margin: 4px 0; overflow-wrap: anywhere }\n"
    "table { border-collapse: collapse; font-size: 13px }\n"
    "th, td { padding: 2px 8px; text-align: right; white-space: nowrap;\n"
    "  font-variant-numeric: tabular-nums; border-bottom: 1px solid #e4e4e4 }\n"
    "th { font-weight: normal }\n"
    "thead th { font-weight: bold; border-bottom: 1px solid #888;\n"
    "  white-space: normal; vertical-align: bottom }\n"
    "th:first-child, .text { text-align: left }\n"
    ".place { white-space: normal; overflow-wrap: anywhere; min-width: 180px }\n"
    ".facts td { text-align: left; white-space: normal; overflow-wrap: anywhere }\n"
    ".wide { overflow-x: auto; margin: 8px 0 }\n"
    ".wide svg { min-width: 560px }\n"
    ".tiles { display: flex; flex-wrap: wrap; gap: 8px }\n"
    ".tile { border: 1px solid #bbb; border-radius: 6px; padding: 8px 16px;\n"
    "  break-inside: avoid }\n"
    ".tile b { display: block; font-size: 22px }\n"
    "svg { display: block; width: 100%; height: auto }\n"
    "svg text { font: 12px sans-serif; fill: #444 }\n"
    ".wide rect { stroke: #fff; stroke-width: .5 }\n"
    ".range { stroke: #222; stroke-width: 2; fill: none }\n"
    ".legend { color: #444 } .legend span { white-space: nowrap }\n"
    ".legend i { display: inline-block; width: 12px; height: 12px;\n"
    "  margin: 0 4px 0 8px; vertical-align: -1px }\n"
    ".legend .line { height: 0; border-top: 2px solid #d55e00; vertical-align: 4px }\n"
    ".figures { display: grid; gap: 16px 24px;\n"
    "  grid-template-columns: repeat(auto-fill, minmax(270px, 1fr)) }\n"
    "figure { margin: 0; break-inside: avoid }\n"
    "figcaption { font-size: 13px }\n"
    ".bars { fill: #0072b2 }\n"
    ".sums { fill: none; stroke: #d55e00; stroke-width: 1.5 }\n"
    ".axis, .frame { fill: none; stroke: #888 }\n"
    ".matrix { display: flex; flex-wrap: wrap; gap: 24px; break-inside: avoid }\n"
    ".matrix svg { max-width: 100%; flex: none }\n"
    "pre { font: 12px/1.5 monospace; white-space: pre-wrap; overflow-wrap: anywhere;\n"
    "  border-left: 3px solid #d55e00; padding-left: 8px }\n"
    ".settings { font: 12px/1.5 monospace; columns: 3 260px; overflow-wrap: anywhere "
    "}\n"
    ".settings b { font-weight: normal; color: #888 }\n"
    "tr { break-inside: avoid }\n"
    "@page { margin: 14mm }\n"
    "@media print { body { font-size: 11px; max-width: none; padding: 0;\n"
    "    print-color-adjust: exact; -webkit-print-color-adjust: exact }\n"
    "  table, figcaption { font-size: 10px } th, td { padding: 1px 5px }\n"
    "  .figures { grid-template-columns: repeat(3, 1fr) }\n"
    "  .wide svg { min-width: 0; max-height: 150mm }\n"
    "  .place { min-width: 100px } .wide { overflow: visible } .matrix svg { "
    "max-width: 55% } }\n"
    "</style>\n<title>";

void report_page_begin(FILE *out, const char *title)
{
    fputs(head, out);
    html_text(out, title);
    fputs("</title></head>\n<body>\n<h1>", out);
    html_text(out, title);
    fputs("</h1>\n", out);
}

void report_page_end(FILE *out)
{
    fputs("</body></html>\n", out);
}

/** Print all sections. @return 0 or -ENOMEM */
static int print_sections(FILE *out, const struct run *run,
                          const struct report_call *calls, const struct waits *waits)
{
    int rc;

    report_print_run(out, run);
    rc = report_print_outstanding(out, run, waits);
    if (rc == 0) {
        rc = report_print_ranks(out, run);
    }
    if (rc == 0) {
        report_print_calls(out, run, calls);
        rc = report_print_sites(out, run);
    }
    if (rc == 0) {
        rc = report_print_split(out, run, calls);
    }
    if (rc == 0) {
        rc = report_print_waits(out, run, waits);
    }
    if (rc == 0) {
        rc = report_print_spreads(out, run, calls);
    }
    if (rc == 0) {
        rc = report_print_matrix(out, run);
    }
    if (rc == 0) {
        rc = report_print_comms(out, run);
    }
    if (rc == 0) {
        rc = report_print_slices(out, run);
    }
    if (rc == 0) {
        report_print_settings(out, run);
    }
    return rc;
}

int report_page_print(FILE *out, const struct run *run)
{
    struct report_call *calls = report_calls_of(run);
    struct waits waits;
    int rc = waits_of(run, &waits);

    if (calls == NULL) {
        rc = -ENOMEM;
    }
    if (rc == 0) {
        rc = print_sections(out, run, calls, &waits);
    }
    waits_fini(&waits);
    free(calls);
    return rc;
}
