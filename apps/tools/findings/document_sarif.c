/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The document as SARIF 2.1.0 has it (OASIS). Rules are the table of kinds, results are
 * findings. The first place with a file is a result's location; the others and all
 * callers are related locations. Paths below the working folder are relative to it.
 */
#include "apps/tools/findings/document_sarif.h"

#include <bcs/version.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA                                                                         \
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"              \
    "sarif-schema-2.1.0.json"
/* How GitHub and others call the folder of the sources. */
#define BASE "%SRCROOT%"
#define UNESCAPED "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/"

/** A path as a URI. @param end  what is behind it @return for free; NULL: no memory */
static char *uri_of(const char *path, const char *end)
{
    char *uri = malloc(strlen("file://") + 3 * strlen(path) + strlen(end) + 1);
    char *to = uri;

    if (uri == NULL) {
        return NULL;
    }
    to += sprintf(to, "%s", *path == '/' ? "file://" : "");
    for (; *path != '\0'; path++) {
        if (strchr(UNESCAPED, *path) != NULL) {
            *to++ = *path;
        } else {
            to += sprintf(to, "%%%02X", (unsigned char)*path);
        }
    }
    strcpy(to, end);
    return uri;
}

/** Where a file is. */
static json_t *artifact_of(const char *path)
{
    char *uri = uri_of(path, "");
    json_t *artifact = json_object();

    json_object_set_new(artifact, "uri", json_string(uri == NULL ? "" : uri));
    if (*path != '/') {
        json_object_set_new(artifact, "uriBaseId", json_string(BASE));
    }
    free(uri);
    return artifact;
}

static json_t *message_of(const char *text)
{
    return json_pack("{s:s}", "text", text);
}

/** A location. @param place  that has a file */
static json_t *location_of(const json_t *place)
{
    json_t *line = json_object_get(place, "line"), *location, *physical;
    const char *function = document_text(place, "function");

    physical = json_pack("{s:o}", "artifactLocation",
                         artifact_of(document_text(place, "file")));
    if (line != NULL) {
        json_object_set_new(physical, "region", json_pack("{s:O}", "startLine", line));
    }
    location = json_pack("{s:o}", "physicalLocation", physical);
    if (*function != '\0') {
        json_object_set_new(
            location, "logicalLocations",
            json_pack("[{s:s, s:s}]", "name", function, "kind", "function"));
    }
    return location;
}

/** Add a related location. */
static void add_related(json_t *related, const json_t *place, const char *text)
{
    json_t *location = location_of(place);

    json_object_set_new(location, "id",
                        json_integer((json_int_t)json_array_size(related) + 1));
    json_object_set_new(location, "message", message_of(text));
    json_array_append_new(related, location);
}

/** "ranks 0-1: MPI_Recv, on MPI_COMM_WORLD" @return for free; NULL: no memory */
static char *words_of(const json_t *place)
{
    const json_t *ranks = json_object_get(place, "ranks");
    const char *call = document_text(place, "call");
    const char *comm = document_text(place, "communicator");
    char *who = json_array_size(ranks) > 0 ? document_ranks(ranks) : NULL, *words;

    if (asprintf(&words, "%s%s%s%s%s", who == NULL ? "" : who, who == NULL ? "" : ": ",
                 *call == '\0' ? "a call" : call, *comm == '\0' ? "" : ", on ",
                 comm) < 0) {
        words = NULL;
    }
    free(who);
    return words;
}

/** Add who has called a place. */
static void add_callers(json_t *related, const json_t *place)
{
    const json_t *caller;
    char *words = words_of(place), *text;
    size_t i;

    json_array_foreach(json_object_get(place, "callers"), i, caller)
    {
        if (*document_text(caller, "file") != '\0' &&
            asprintf(&text, "called from here: %s", words == NULL ? "?" : words) >= 0) {
            add_related(related, caller, text);
            free(text);
        }
    }
    free(words);
}

/** Set where a finding is. @param program  which stands for a place that is not
 *  known */
static void set_locations(json_t *result, const json_t *finding, const char *program)
{
    json_t *related = json_array(), *location = NULL;
    const json_t *place;
    size_t i;

    json_array_foreach(json_object_get(finding, "places"), i, place)
    {
        char *words = words_of(place);

        if (*document_text(place, "file") != '\0' && location == NULL) {
            location = location_of(place);
            json_object_set_new(location, "message",
                                message_of(words == NULL ? "?" : words));
        } else if (*document_text(place, "file") != '\0') {
            add_related(related, place, words == NULL ? "?" : words);
        }
        add_callers(related, place);
        free(words);
    }
    if (location == NULL) {
        location = json_pack("{s:{s:o}}", "physicalLocation", "artifactLocation",
                             artifact_of(program));
    }
    json_object_set_new(result, "locations", json_pack("[o]", location));
    json_object_set_new(result, "relatedLocations", related);
}

static json_t *result_of(const json_t *finding, const char *program)
{
    enum bcs_finding_kind kind = document_kind(finding);
    json_t *status = json_object_get(finding, "status");
    json_t *result = json_pack(
        "{s:s, s:i, s:s, s:o, s:{s:O, s:O, s:O}}", "ruleId",
        bcs_finding_rules[kind].name, "ruleIndex", (int)kind, "level",
        bcs_finding_level_word(bcs_finding_rules[kind].level), "message",
        message_of(document_text(finding, "text")), "properties", "ranks",
        json_object_get(finding, "ranks"), "page", json_object_get(finding, "page"),
        "headline", json_object_get(finding, "message"));

    if (status != NULL) {
        json_object_set(json_object_get(result, "properties"), "exitStatus", status);
    }
    set_locations(result, finding, program);
    return result;
}

static json_t *rules(void)
{
    json_t *list = json_array();

    for (int i = 0; i < BCS_FINDING_KINDS; i++) {
        const struct bcs_finding_rule *rule = &bcs_finding_rules[i];

        json_array_append_new(list, json_pack("{s:s, s:{s:s+}, s:{s:o}, s:{s:s}}", "id",
                                              rule->name, "shortDescription", "text",
                                              rule->summary, ".", "help", "text",
                                              json_sprintf("See %s.", rule->page),
                                              "defaultConfiguration", "level",
                                              bcs_finding_level_word(rule->level)));
    }
    return list;
}

static json_t *invocation_of(const struct findings_run *run)
{
    char began[32], ended[32];
    json_t *words = json_array(), *invocation;

    for (char *const *word = run->command; *word != NULL; word++) {
        json_array_append_new(words, document_string(*word));
    }
    document_time(run->began_s, began);
    document_time(run->began_s + (int64_t)run->seconds, ended);
    invocation =
        json_pack("{s:o, s:s, s:s, s:b, s:i}", "arguments", words, "startTimeUtc",
                  began, "endTimeUtc", ended, "executionSuccessful", run->status == 0,
                  "exitCode", run->status);
    if (document_signal(run) != 0) {
        json_object_set_new(invocation, "exitSignalNumber",
                            json_integer(document_signal(run)));
    }
    json_object_set_new(invocation, "exitCodeDescription",
                        json_string(document_ending(run)));
    return invocation;
}

bool document_write_sarif(FILE *out, const struct document *document)
{
    char *program = findings_path(document->run->program, document->folder);
    char *base = uri_of(document->folder, "/");
    json_t *results = json_array(), *finding, *all;
    bool is_good;
    size_t i;

    json_array_foreach(document->findings, i, finding)
    {
        json_array_append_new(results,
                              result_of(finding, program == NULL ? "?" : program));
    }
    all = json_pack(
        "{s:s, s:s, s:[{s:{s:{s:s, s:s, s:o}}, s:[o], s:{s:{s:s}}, s:s, s:o}]}",
        "$schema", SCHEMA, "version", "2.1.0", "runs", "tool", "driver", "name", "bcs",
        "version", bcs_version(), "rules", rules(), "invocations",
        invocation_of(document->run), "originalUriBaseIds", BASE, "uri",
        base == NULL ? "" : base, "columnKind", "utf16CodeUnits", "results", results);
    is_good = all != NULL && json_dumpf(all, out, JSON_INDENT(1)) == 0;
    fputc('\n', out);
    json_decref(all);
    free(program);
    free(base);
    return is_good;
}
