/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sections about findings; see report_findings.h.
 */
#include "mds/tool/report/report_findings.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "mds/tool/read/json_ranks.h"
#include "mds/tool/read/manifest.h"
#include "mds/tool/report/html.h"

enum { FINDINGS_MOST = 200, LINES_MOST = 8, PLACES_MOST = 20 };

/** How a level is told, in this order. */
static const struct {
    const char *level, *title;
} sections[] = {
    {"error", "What is wrong"},
    {"warning", "What is left, or not alike"},
    {"note", "What may be wrong"},
};
enum { N_SECTIONS = sizeof(sections) / sizeof(sections[0]) };

/** A text of an object; "": it has none. */
static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text == NULL ? "" : text;
}

static long long number_of(const json_t *object, const char *key)
{
    return (long long)json_integer_value(json_object_get(object, key));
}

char *report_findings_command(const json_t *document)
{
    const json_t *run = json_object_get(document, "run"), *word;
    char *text = NULL;
    size_t n_bytes = 0, i;
    FILE *out = open_memstream(&text, &n_bytes);

    if (out == NULL) {
        return NULL;
    }
    json_array_foreach(json_object_get(run, "command"), i, word)
    {
        const char *words = json_string_value(word);

        fprintf(out, "%s%s", i > 0 ? " " : "", words == NULL ? "?" : words);
    }
    return fclose(out) == 0 ? text : NULL;
}

/** A row of two columns, the second of which is a text. */
static void print_fact(FILE *out, const char *name, const char *text)
{
    fprintf(out, "<tr><th>%s<td>", name);
    html_text(out, text);
}

/** How the run has ended. */
static void print_run(FILE *out, const json_t *run)
{
    const json_t *versions = json_object_get(run, "versions");

    fputs("<table class=facts>\n", out);
    print_fact(out, "Ended by", text_of(run, "ended"));
    fprintf(out, "<tr><th>Exit status<td>%lld", number_of(run, "status"));
    fprintf(out, "<tr><th>Ranks<td>%lld", number_of(run, "ranks"));
    fprintf(out, "<tr><th>Took<td>%.1f s",
            json_number_value(json_object_get(run, "seconds")));
    print_fact(out, "Began", text_of(run, "began"));
    print_fact(out, "On", text_of(run, "host"));
    print_fact(out, "In", text_of(run, "folder"));
    print_fact(out, "bcs", text_of(versions, "bcs"));
    print_fact(out, "MPI library", text_of(versions, "mpi"));
    fputs("\n</table>\n", out);
}

/** A cell with a file and its line. */
static void print_file(FILE *out, const json_t *place)
{
    fputs("<td class=\"text place\">", out);
    html_text(out, text_of(place, "file"));
    if (number_of(place, "line") > 0) {
        fprintf(out, ":%lld", number_of(place, "line"));
    }
}

/** The places of a finding, those whose file is known, and who has called. */
static void print_places(FILE *out, const json_t *finding)
{
    const json_t *place, *caller;
    size_t i, j, n = 0;

    json_array_foreach(json_object_get(finding, "places"), i, place)
    {
        if (*text_of(place, "file") == '\0' || i >= PLACES_MOST) {
            continue;
        }
        fputs(n++ == 0 ? "<div class=wide><table>\n<thead><tr><th>Ranks"
                         "<th class=text>Call<th class=text>Function"
                         "<th class=text>Line\n<tbody>\n"
                       : "",
              out);
        fputs("<tr><th>", out);
        json_ranks_print(out, json_object_get(place, "ranks"), SIZE_MAX);
        fputs("<td class=text>", out);
        html_text(out, text_of(place, "call"));
        fputs("<td class=text>", out);
        html_text(out, text_of(place, "function"));
        print_file(out, place);
        json_array_foreach(json_object_get(place, "callers"), j, caller)
        {
            fputs("\n<tr><th><td class=text>called from<td class=text>", out);
            html_text(out, text_of(caller, "function"));
            print_file(out, caller);
        }
        fputc('\n', out);
    }
    fputs(n > 0 ? "</table></div>\n" : "", out);
}

static void print_finding(FILE *out, const json_t *finding)
{
    fputs("<h3>", out);
    html_text(out, text_of(finding, "message"));
    fputs("</h3>\n<pre>", out);
    html_text(out, text_of(finding, "text"));
    fputs("</pre>\n", out);
    print_places(out, finding);
    fputs("<p>See ", out);
    html_text(out, text_of(finding, "page"));
    fputs(".</p>\n", out);
}

/** The findings of a level. @return how many */
static size_t print_level(FILE *out, const json_t *findings, const char *level,
                          const char *title)
{
    const json_t *finding;
    size_t i, n = 0;

    json_array_foreach(findings, i, finding)
    {
        if (strcmp(text_of(finding, "level"), level) != 0) {
            continue;
        }
        if (n == 0) {
            fprintf(out, "<h2>%s</h2>\n", title);
        }
        if (n++ < FINDINGS_MOST) {
            print_finding(out, finding);
        }
    }
    if (n > FINDINGS_MOST) {
        fprintf(out, "<p>And %zu more.</p>\n", n - FINDINGS_MOST);
    }
    return n;
}

/** What was looked at, and how to read it. */
static void print_guide(FILE *out)
{
    fputs(
        "<h2>How to read this page</h2>\n<ul>\n"
        "<li>A deadlock is a proof: these ranks can never continue. Read its report "
        "from below. The circle names who waits for whom; a near miss is a message "
        "that was sent and differs from what is expected.</li>\n"
        "<li>Misuse, truncation and a wrong argument are calls that the MPI standard "
        "forbids.</li>\n"
        "<li>A buffer was used while an operation on it was pending. The result "
        "depends on when the data move.</li>\n"
        "<li>Messages that nobody has received, and objects that were not freed, cost "
        "memory. They are known only if the program has come to MPI_Finalize.</li>\n"
        "<li>A suspicion and a standstill prove nothing.</li>\n"
        "<li>Below, <b>Who is late</b> has for whom ranks have waited. A rank that is "
        "late in each row has too much to do, or does it too slowly.</li>\n"
        "</ul>\n",
        out);
}

/** Print how a run has ended that has not ended well. */
static void print_ending(FILE *out, const json_t *run)
{
    fprintf(out, "the job ended with exit status %lld", number_of(run, "status"));
    if (number_of(run, "signal") != 0) {
        fprintf(out, ", by signal %lld", number_of(run, "signal"));
    }
    fputs(" (", out);
    html_text(out, text_of(run, "ended"));
    fputc(')', out);
}

/** Say that there is no section of findings. */
static void print_nothing(FILE *out, const json_t *run)
{
    fputs(
        "<h2>What is wrong</h2>\n<p>Nothing was found: no deadlock, no misuse, nothing "
        "left, no buffer that was used too early.",
        out);
    if (number_of(run, "status") != 0) {
        fputs(" But ", out);
        print_ending(out, run);
        fputc('.', out);
    }
    fputs("</p>\n", out);
}

void report_findings_print(FILE *out, const json_t *document)
{
    const json_t *findings = json_object_get(document, "findings");
    const json_t *run = json_object_get(document, "run");
    size_t n = 0;

    print_run(out, run);
    for (int i = 0; i < N_SECTIONS; i++) {
        n += print_level(out, findings, sections[i].level, sections[i].title);
    }
    if (n == 0) {
        print_nothing(out, run);
    }
    print_guide(out);
}

void report_findings_write(FILE *out, const json_t *document)
{
    const json_t *findings = json_object_get(document, "findings"), *finding;
    const json_t *run = json_object_get(document, "run");
    size_t n = json_array_size(findings), i;

    fprintf(out, n == 0 ? "nothing was found\n" : "%zu finding%s:\n", n,
            n == 1 ? "" : "s");
    json_array_foreach(findings, i, finding)
    {
        const char *message = text_of(finding, "message");

        if (i < LINES_MOST) {
            fprintf(out, "  %s: ", text_of(finding, "level"));
            manifest_print(out, message, strlen(message));
            fputc('\n', out);
        }
    }
    if (n > LINES_MOST) {
        fprintf(out, "  and %zu more\n", n - LINES_MOST);
    }
    if (number_of(run, "status") != 0) {
        fputs("  ", out);
        print_ending(out, run);
        fputc('\n', out);
    }
}
