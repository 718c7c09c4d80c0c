/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The document as JUnit has it: one suite with one case, the program. Findings that are
 * errors are its failures; an end with a status, without any of them, is its error.
 * Warnings and notes are told as output of the case, which passes.
 */
#include "apps/tools/findings/document_junit.h"

#include <stdlib.h>
#include <string.h>

#include "mds/tool/read/text.h"

/** Whether XML may have a character, of so many bytes. */
static bool is_allowed(const char *bytes, size_t n)
{
    unsigned char first = (unsigned char)bytes[0];

    return n == 1 ? first >= 0x20 || first == '\n' || first == '\t'
                  : n != 3 || memcmp(bytes, "\xef\xbf\xbe", 3) < 0 ||
                        memcmp(bytes, "\xef\xbf\xbf", 3) > 0;
}

/** Write a text of UTF-8 between tags or quotes; what XML forbids becomes U+FFFD. */
static void write_text(FILE *out, const char *text)
{
    while (*text != '\0') {
        const char *named = *text == '&'    ? "&amp;"
                            : *text == '<'  ? "&lt;"
                            : *text == '>'  ? "&gt;"
                            : *text == '"'  ? "&quot;"
                            : *text == '\n' ? "&#10;"
                                            : NULL;
        size_t n = 1;

        while (((unsigned char)text[n] & 0xc0) == 0x80) {
            n++;
        }
        if (named != NULL) {
            fputs(named, out);
        } else if (is_allowed(text, n)) {
            fwrite(text, 1, n, out);
        } else {
            fputs("\xef\xbf\xbd", out);
        }
        text += n;
    }
}

/** Write a text of others with a key: a part of a tag. */
static void write_attribute(FILE *out, const char *key, const char *text)
{
    char *plain = text_utf8(text, strlen(text));

    fprintf(out, " %s=\"", key);
    write_text(out, plain == NULL ? "?" : plain);
    fputc('"', out);
    free(plain);
}

static bool is_error(const json_t *finding)
{
    return bcs_finding_rules[document_kind(finding)].level == BCS_LEVEL_ERROR;
}

/** Write a finding as a failure, or as text. */
static void write_failure(FILE *out, const json_t *finding)
{
    fputs("   <failure", out);
    write_attribute(out, "type", document_text(finding, "kind"));
    write_attribute(out, "message", document_text(finding, "message"));
    fputc('>', out);
    write_text(out, document_text(finding, "text"));
    fputs("</failure>\n", out);
}

/** Write how the run has ended, as an error. */
static void write_ending(FILE *out, const struct findings_run *run)
{
    fprintf(out, "   <error type=\"%s\" message=\"the job ended with exit status %d",
            document_ending(run), run->status);
    if (document_signal(run) != 0) {
        fprintf(out, " (signal %d)", document_signal(run));
    }
    fputs("\"/>\n", out);
}

/** Write those that are no errors, if there are some. */
static void write_others(FILE *out, const struct document *document)
{
    const json_t *finding;
    bool is_first = true;
    size_t i;

    json_array_foreach(document->findings, i, finding)
    {
        if (!is_error(finding)) {
            fputs(is_first ? "   <system-out>" : "&#10;", out);
            is_first = false;
            write_text(out, document_text(finding, "text"));
        }
    }
    fputs(is_first ? "" : "</system-out>\n", out);
}

static void write_case(FILE *out, const struct document *document, int n_failures)
{
    const struct findings_run *run = document->run;
    const json_t *finding;
    size_t i;

    fputs("  <testcase classname=\"bcsrun\"", out);
    write_attribute(out, "name", run->program);
    fprintf(out, " time=\"%.3f\">\n", run->seconds);
    json_array_foreach(document->findings, i, finding)
    {
        if (is_error(finding)) {
            write_failure(out, finding);
        }
    }
    if (n_failures == 0 && run->status != 0) {
        write_ending(out, run);
    }
    write_others(out, document);
    fputs("  </testcase>\n", out);
}

bool document_write_junit(FILE *out, const struct document *document)
{
    const struct findings_run *run = document->run;
    const json_t *finding;
    int n_failures = 0;
    char began[32];
    size_t i;

    json_array_foreach(document->findings, i, finding)
    {
        n_failures += is_error(finding);
    }
    document_time(run->began_s, began);
    began[strlen(began) - 1] = '\0'; /* JUnit has no zone */
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
            " <testsuite name=\"bcsrun\" tests=\"1\" failures=\"%d\" errors=\"%d\" "
            "skipped=\"0\" time=\"%.3f\" timestamp=\"%s\">\n",
            n_failures > 0, n_failures == 0 && run->status != 0, run->seconds, began);
    write_case(out, document, n_failures);
    fputs(" </testsuite>\n</testsuites>\n", out);
    return true;
}
