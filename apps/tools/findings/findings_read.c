/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the lines that a job has appended; see document.h. The program under test may
 * have written there, too: nothing of a line is believed before it has been looked at.
 */
#include "apps/tools/findings/findings_read.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_END ".findings"

enum { RANKS_MOST = 1 << 20 };

/** Copy a text if there is one. */
static void copy_text(json_t *to, const json_t *from, const char *key)
{
    if (*document_text(from, key) != '\0') {
        json_object_set(to, key, json_object_get(from, key));
    }
}

/** The ranks of an array, as far as they are some. */
static json_t *ranks_of(const json_t *from)
{
    json_t *list = json_array(), *one;
    json_int_t last = -1;
    size_t i;

    json_array_foreach(json_object_get(from, "ranks"), i, one)
    {
        json_int_t rank = json_is_integer(one) ? json_integer_value(one) : -1;

        if (rank > last && rank < RANKS_MOST) {
            json_array_append(list, one);
            last = rank;
        }
    }
    return list;
}

/** Read a place. @param folder  the working folder */
static json_t *place_of(const json_t *from, const char *folder)
{
    json_int_t line = json_integer_value(json_object_get(from, "line"));
    const char *file = document_text(from, "file");
    char *path = *file == '\0' ? NULL : findings_path(file, folder);
    json_t *place = json_object();

    if (json_is_array(json_object_get(from, "ranks"))) {
        json_object_set_new(place, "ranks", ranks_of(from));
    }
    copy_text(place, from, "call");
    copy_text(place, from, "communicator");
    copy_text(place, from, "place");
    copy_text(place, from, "function");
    if (path != NULL) {
        json_object_set_new(place, "file", json_string(path));
    }
    if (path != NULL && line > 0) {
        json_object_set_new(place, "line", json_integer(line));
    }
    free(path);
    return place;
}

/** Read the places of an array. */
static json_t *places_of(const json_t *from, const char *key, const char *folder)
{
    json_t *list = json_array(), *one, *place;
    size_t i;

    json_array_foreach(json_object_get(from, key), i, one)
    {
        place = place_of(one, folder);
        if (json_is_array(json_object_get(one, "callers"))) {
            json_object_set_new(place, "callers", places_of(one, "callers", folder));
        }
        json_array_append_new(list, place);
    }
    return list;
}

/** The report, or what there is of it. */
static json_t *text_of(const json_t *from)
{
    const char *text = document_text(from, "text");
    const char *demand = document_text(from, "demand");

    return *text != '\0' ? json_string(text)
           : *demand != '\0'
               ? json_sprintf("%s\n  %s", document_text(from, "message"), demand)
               : json_string(document_text(from, "message"));
}

/** Read a finding. @return NULL: it is none */
static json_t *finding_of(const json_t *from, const char *folder, int status)
{
    enum bcs_finding_kind kind = document_kind(from);
    json_int_t own = json_integer_value(json_object_get(from, "status"));
    const struct bcs_finding_rule *rule;
    json_t *finding;

    if (kind == BCS_FINDING_KINDS || *document_text(from, "message") == '\0') {
        return NULL;
    }
    rule = &bcs_finding_rules[kind];
    finding =
        json_pack("{s:s, s:s, s:s, s:s, s:o}", "kind", rule->name, "level",
                  bcs_finding_level_word(rule->level), "page", rule->page, "message",
                  document_text(from, "message"), "text", text_of(from));
    copy_text(finding, from, "demand");
    if (own == 0 && rule->status == status) {
        own = status; /* it was told before it ended the job */
    }
    if (own > 0 && own < 256) {
        json_object_set_new(finding, "status", json_integer(own));
    }
    json_object_set_new(finding, "ranks", ranks_of(from));
    json_object_set_new(finding, "places", places_of(from, "places", folder));
    return finding;
}

/** Read a file. */
static void read_file(FILE *file, const char *folder, int status, json_t *findings,
                      int *n_lost)
{
    size_t n_room = 0;
    char *line = NULL;

    while (getline(&line, &n_room, file) > 0) {
        json_t *from = json_loads(line, 0, NULL);
        json_t *finding = from == NULL ? NULL : finding_of(from, folder, status);

        if (finding == NULL) {
            ++*n_lost;
        } else {
            json_array_append_new(findings, finding);
        }
        json_decref(from);
    }
    free(line);
}

/** Whether an entry of the folder is a file of findings: a filter of scandir. */
static int is_file(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name), n_end = strlen(FILE_END);

    return n > n_end && strcmp(entry->d_name + n - n_end, FILE_END) == 0;
}

json_t *findings_read(const char *folder, const char *working, int status,
                      int *n_lost_out)
{
    json_t *findings = json_array();
    struct dirent **entries = NULL;
    int n = folder == NULL ? 0 : scandir(folder, &entries, is_file, alphasort);

    *n_lost_out = 0;
    for (int i = 0; i < n; i++) {
        char path[PATH_MAX];
        FILE *file;

        snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
        file = fopen(path, "re");
        if (file != NULL) {
            read_file(file, working, status, findings, n_lost_out);
            fclose(file);
        }
        free(entries[i]);
    }
    free(entries);
    return findings;
}
