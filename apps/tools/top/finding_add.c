/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Findings with places; see finding_add.h. What is printed meanwhile goes into a file
 * in memory, so that the text is the one that the user sees.
 */
#include "finding_add.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "groups.h"
#include "libbcs/report/finding.h"
#include "mds/tool/read/text.h"
#include "ranks.h"
#include "wait_print.h"

enum { PLACES_MOST = 100, PART_BYTES = 4096 };

struct finding_add finding_add_begin(const char *line)
{
    struct finding_add adding = {.line = line, .output_fd = -1, .text_fd = -1};

    if (line == NULL) {
        return adding;
    }
    fflush(stdout);
    adding.output_fd = dup(STDOUT_FILENO);
    adding.text_fd =
        adding.output_fd < 0 ? -1 : memfd_create("bcs-report", MFD_CLOEXEC);
    if (adding.text_fd >= 0) {
        dup2(adding.text_fd, STDOUT_FILENO);
    }
    return adding;
}

/** Read what was printed. @return for free; NULL: no memory */
static char *read_text(int fd)
{
    size_t n_text = 0;
    char *text = NULL, part[PART_BYTES];
    FILE *out = open_memstream(&text, &n_text);
    off_t at = 0;
    ssize_t n;

    while (out != NULL && (n = pread(fd, part, sizeof(part), at)) > 0) {
        fwrite(part, 1, (size_t)n, out);
        at += n;
    }
    return out != NULL && fclose(out) == 0 ? text : NULL;
}

/** Write a whole text. @return whether all has gone */
static bool write_text(const char *text)
{
    size_t n_left = strlen(text);
    ssize_t n = 0;

    while (n_left > 0 && (n = write(STDOUT_FILENO, text, n_left)) > 0) {
        text += n;
        n_left -= (size_t)n;
    }
    return n_left == 0;
}

/** Tell where a place is: by the words for it, and by the file that is known. */
static json_t *place_of(const char *words, const json_t *source)
{
    const char *file = NULL, *path = wait_text(source, "file");
    int n_file = 0, line = 0;
    int n_function = bcs_finding_part_words(words, &file, &n_file, &line);
    json_t *place = json_object();

    json_object_set_new(place, "place", json_string(words));
    if (n_function > 0) {
        json_object_set_new(place, "function", json_stringn(words, (size_t)n_function));
        json_object_set_new(place, "file",
                            *path != '\0' ? json_string(path)
                                          : json_stringn(file, (size_t)n_file));
        json_object_set_new(place, "line", json_integer(line));
    }
    return place;
}

static json_t *callers_of(const json_t *wait)
{
    const json_t *sources = json_object_get(wait, "sources"), *words;
    json_t *list = json_array();
    size_t i;

    json_array_foreach(json_object_get(wait, "callers"), i, words)
    {
        json_array_append_new(
            list, place_of(json_string_value(words), json_array_get(sources, i + 1)));
    }
    return list;
}

/** Add the place of a group: a visitor of ranks_visit. */
static void add_group(const char *key, const json_t *group, void *arg)
{
    const json_t *wait = json_object_get(group, "wait");
    const json_t *sources = json_object_get(wait, "sources");
    json_t *place = place_of(wait_text(wait, "place"), json_array_get(sources, 0));

    (void)key;
    json_object_set(place, "ranks", json_object_get(group, "ranks"));
    json_object_set(place, "call", json_object_get(wait, "call"));
    json_object_set(place, "communicator", json_object_get(wait, "communicator"));
    if (json_object_get(json_object_get(group, "differ"), "callers") == NULL) {
        json_object_set_new(place, "callers", callers_of(wait));
    }
    json_array_append_new(arg, place);
}

/** The ranks that are told of, in their order. */
static json_t *ranks_of(const json_t *job, const json_t *groups)
{
    size_t n_ranks = (size_t)wait_number(job, "n_ranks"), i;
    bool *are_told = calloc(n_ranks + 1, sizeof(*are_told));
    json_t *list = json_array(), *group, *rank;
    const char *key;

    json_object_foreach((json_t *)(uintptr_t)groups, key, group)
    {
        json_array_foreach(json_object_get(group, "ranks"), i, rank)
        {
            size_t number = (size_t)json_integer_value(rank);

            if (are_told != NULL && number < n_ranks) {
                are_told[number] = true;
            }
        }
    }
    for (i = 0; are_told != NULL && i < n_ranks; i++) {
        if (are_told[i]) {
            json_array_append_new(list, json_integer((json_int_t)i));
        }
    }
    free(are_told);
    return list;
}

/** Complete the finding, and append it. */
static void append(const char *line, const json_t *job, const char *list,
                   const char *text)
{
    json_t *finding = json_loads(line, 0, NULL), *groups, *acting;
    const char *message = wait_text(finding, "message");
    char *plain = text_utf8(text, strlen(text)), *whole = NULL;

    if (finding != NULL && plain != NULL &&
        groups_of(job, list, &groups, &acting) == 0) {
        json_t *places = json_array();

        ranks_visit(groups, PLACES_MOST, add_group, places);
        json_object_set_new(finding, "ranks", ranks_of(job, groups));
        json_object_set_new(finding, "places", places);
        json_object_set_new(finding, "text",
                            strstr(plain, message) != NULL
                                ? json_string(plain)
                                : json_sprintf("%s:\n%s", message, plain));
        whole = json_dumps(finding, 0);
        json_decref(groups);
        json_decref(acting);
    }
    if (whole != NULL) {
        bcs_finding_append(whole);
    }
    free(whole);
    free(plain);
    json_decref(finding);
}

int finding_add_end(const struct finding_add *adding, const json_t *job,
                    const char *list)
{
    char *text;
    int rc;

    if (adding->text_fd < 0) {
        return 0;
    }
    fflush(stdout);
    dup2(adding->output_fd, STDOUT_FILENO);
    close(adding->output_fd);
    text = read_text(adding->text_fd);
    close(adding->text_fd);
    rc = text == NULL || !write_text(text) ? -EIO : 0;
    if (text != NULL) {
        append(adding->line, job, list, text);
    }
    free(text);
    return rc;
}
