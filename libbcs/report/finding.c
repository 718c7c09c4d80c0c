/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes findings; see finding.h. Called by whoever prints a report, in any process and
 * thread: there is no state.
 */
#include "libbcs/report/finding.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libbcs/fabric/base/environment.h"
#include "libbcs/fabric/base/json_text.h"
#include "libbcs/fabric/base/log.h"

enum { HOST_BYTES = 256, DIGITS_MOST = 9 };

/** The folder. @return NULL: findings are not wanted */
static const char *folder(void)
{
    const char *path = bcs_environment_get(BCS_FINDINGS_SETTING);

    return path == NULL || *path == '\0' ? NULL : path;
}

bool bcs_findings_are_wanted(void)
{
    return folder() != NULL;
}

int bcs_finding_part_words(const char *words, const char **file_out, int *n_file_out,
                           int *line_out)
{
    const char *colon = strrchr(words, ':'), *comma = NULL;
    size_t n_digits = colon == NULL ? 0 : strspn(colon + 1, "0123456789");

    if (n_digits == 0 || n_digits > DIGITS_MOST || colon[1 + n_digits] != '\0') {
        return 0;
    }
    for (const char *at = words; at < colon; at++) {
        comma = at[0] == ',' && at[1] == ' ' ? at : comma;
    }
    if (comma == NULL || comma == words || comma + 2 >= colon) {
        return 0;
    }
    *file_out = comma + 2;
    *n_file_out = (int)(colon - comma - 2);
    *line_out = atoi(colon + 1);
    return (int)(comma - words);
}

static void write_ranks(FILE *out, const struct bcs_finding *finding)
{
    const char *before = "";

    fputs(", \"ranks\": [", out);
    for (uint32_t i = 0; i < finding->n_ranks; i++) {
        if ((finding->ranks[i / 64] >> i % 64 & 1) != 0) {
            fprintf(out, "%s%u", before, i);
            before = ", ";
        }
    }
    fputc(']', out);
}

/** Write a text with a key, if there is one. */
static void write_text(FILE *out, const char *key, const char *text)
{
    if (text != NULL && *text != '\0') {
        fprintf(out, ", \"%s\": ", key);
        bcs_json_text(out, text);
    }
}

/** The same of the first bytes of a text. */
static void write_part(FILE *out, const char *key, const char *text, int n)
{
    char *part = strndup(text, (size_t)n);

    write_text(out, key, part);
    free(part);
}

/** Write a place: its function is in the words, and so is the file if nobody knows it
 *  better. */
static void write_place(FILE *out, const struct bcs_finding_place *place)
{
    const char *file = NULL;
    int n_file = 0, line = 0, n_function = 0;

    if (place->words != NULL) {
        n_function = bcs_finding_part_words(place->words, &file, &n_file, &line);
    }
    fputs("{\"call\": ", out);
    bcs_json_text(out, place->call);
    write_text(out, "place", place->words);
    if (n_function > 0) {
        write_part(out, "function", place->words, n_function);
    }
    if (place->file != NULL && *place->file != '\0') {
        write_text(out, "file", place->file);
        line = place->line;
    } else if (n_function > 0) {
        write_part(out, "file", file, n_file);
    }
    if (line > 0) {
        fprintf(out, ", \"line\": %d", line);
    }
    fputc('}', out);
}

static void write_finding(FILE *out, const struct bcs_finding *finding)
{
    const struct bcs_finding_rule *rule = &bcs_finding_rules[finding->kind];

    fprintf(out, "{\"kind\": \"%s\", \"level\": \"%s\", \"page\": \"%s\"", rule->name,
            bcs_finding_level_word(rule->level), rule->page);
    write_text(out, "message", finding->message);
    write_text(out, "demand", finding->demand);
    write_text(out, "text", finding->text);
    if (finding->status != 0) {
        fprintf(out, ", \"status\": %d", finding->status);
    }
    if (finding->rank != NULL) {
        fprintf(out, ", \"ranks\": [%u]", *finding->rank);
    } else if (finding->ranks != NULL) {
        write_ranks(out, finding);
    }
    fputs(", \"places\": [", out);
    for (uint32_t i = 0; i < finding->n_places; i++) {
        fputs(i > 0 ? ", " : "", out);
        write_place(out, &finding->places[i]);
    }
    fputs("]}", out);
}

char *bcs_finding_line(const struct bcs_finding *finding)
{
    char *text = NULL;
    size_t n_bytes = 0;
    FILE *out = open_memstream(&text, &n_bytes);

    if (out == NULL) {
        return NULL;
    }
    write_finding(out, finding);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/** Append a line to a file by one write. @return 0 or an errno */
static int append(const char *path, const char *line)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    size_t n_bytes = strlen(line);
    char *whole;
    ssize_t n;
    int rc;

    if (fd < 0) {
        return errno;
    }
    whole = malloc(n_bytes + 1);
    if (whole == NULL) {
        close(fd);
        return ENOMEM;
    }
    memcpy(whole, line, n_bytes);
    whole[n_bytes] = '\n';
    n = write(fd, whole, n_bytes + 1);
    rc = n < 0 ? errno : (size_t)n < n_bytes + 1 ? ENOSPC : 0;
    free(whole);
    close(fd);
    return rc;
}

void bcs_finding_append(const char *line)
{
    char path[PATH_MAX], host[HOST_BYTES] = "";
    const char *base = folder();
    int n, rc;

    if (base == NULL) {
        return;
    }
    gethostname(host, sizeof(host) - 1);
    n = snprintf(path, sizeof(path), "%s/%s.findings", base,
                 *host == '\0' ? "machine" : host);
    rc = n < 0 || (size_t)n >= sizeof(path) ? ENAMETOOLONG : append(path, line);
    if (rc != 0) {
        bcs_warn("a finding is lost for bcsrun's documents: %s: %s", path,
                 strerror(rc));
    }
}

void bcs_finding_tell(const struct bcs_finding *finding)
{
    char *line = bcs_findings_are_wanted() ? bcs_finding_line(finding) : NULL;

    if (line != NULL) {
        bcs_finding_append(line);
    }
    free(line);
}
