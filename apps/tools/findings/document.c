/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words that several documents share; see document.h. Pure.
 */
#include "apps/tools/findings/document.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mds/tool/read/json_ranks.h"
#include "mds/tool/read/text.h"

enum { SIGNALS_MOST = 64, STATUS_OF_SIGNAL = 128 };

const char *document_text(const json_t *finding, const char *key)
{
    const char *text = json_string_value(json_object_get(finding, key));

    return text == NULL ? "" : text;
}

enum bcs_finding_kind document_kind(const json_t *finding)
{
    return bcs_finding_kind_of(document_text(finding, "kind"));
}

int document_signal(const struct findings_run *run)
{
    return run->status > STATUS_OF_SIGNAL &&
                   run->status <= STATUS_OF_SIGNAL + SIGNALS_MOST
               ? run->status - STATUS_OF_SIGNAL
               : 0;
}

const char *document_ending(const struct findings_run *run)
{
    return run->is_killed              ? "killed"
           : run->is_interrupted       ? "interrupted"
           : document_signal(run) != 0 ? "signal"
                                       : "exit";
}

void document_time(int64_t seconds, char text_out[static 32])
{
    time_t when = (time_t)seconds;
    struct tm parts;

    gmtime_r(&when, &parts);
    strftime(text_out, 32, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

json_t *document_string(const char *text)
{
    char *plain = text_utf8(text, strlen(text));
    json_t *value = json_string(plain == NULL ? "?" : plain);

    free(plain);
    return value;
}

char *document_ranks(const json_t *ranks)
{
    size_t n = json_array_size(ranks), n_bytes = 0;
    char *text = NULL;
    FILE *out = open_memstream(&text, &n_bytes);

    if (out == NULL) {
        return NULL;
    }
    fputs(n == 1 ? "rank " : "ranks ", out);
    json_ranks_print(out, ranks, SIZE_MAX);
    fclose(out);
    return text;
}

/** Write the parts of a whole path without "." and "..". @param clean_out  as long as
 *  the path, and two bytes more */
static void clean(const char *path, char *clean_out)
{
    char *to = clean_out;

    while (*path != '\0') {
        size_t n = strcspn(path, "/");

        if (n == 2 && memcmp(path, "..", 2) == 0) {
            while (to > clean_out && *--to != '/') {
            }
        } else if (n > 0 && !(n == 1 && *path == '.')) {
            *to++ = '/';
            memcpy(to, path, n);
            to += n;
        }
        path += n;
        path += *path == '/';
    }
    *to = '\0';
}

/** What of a path is below a folder. @return NULL: it is not */
static const char *part_below(const char *path, const char *folder)
{
    size_t n = strlen(folder);

    n -= n > 0 && folder[n - 1] == '/';
    return strncmp(path, folder, n) == 0 && path[n] == '/' ? path + n + 1 : NULL;
}

char *findings_path(const char *path, const char *folder)
{
    char *cleaned, *real, *found;
    const char *below;

    if (*path != '/') {
        return strdup(path);
    }
    cleaned = malloc(strlen(path) + 2);
    if (cleaned == NULL) {
        return NULL;
    }
    clean(path, cleaned);
    real = realpath(path, NULL); /* a link may lead into the folder */
    below = part_below(cleaned, folder);
    if (below == NULL && real != NULL) {
        below = part_below(real, folder);
    }
    found = strdup(below == NULL ? cleaned : below);
    free(real);
    free(cleaned);
    return found;
}
