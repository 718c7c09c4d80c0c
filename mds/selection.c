/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads selections; see selection.h. Any process, at its start.
 */
#include "mds/selection.h"

#include <fnmatch.h>
#include <string.h>

enum { N_DIGITS_MOST = 9, N_PATTERN_BYTES = 128 };

/** Read a rank at text, and go behind it. */
static bool read_rank(const char **text, uint32_t *rank_out)
{
    uint32_t rank = 0;
    int n_digits = 0;

    for (; **text >= '0' && **text <= '9'; (*text)++, n_digits++) {
        rank = 10 * rank + (uint32_t)(**text - '0');
        if (n_digits == N_DIGITS_MOST) {
            return false;
        }
    }
    *rank_out = rank;
    return n_digits > 0;
}

/** Read a rank or a range at text, and go behind it and its comma. */
static bool read_range(const char **text, uint32_t *first_out, uint32_t *last_out)
{
    if (!read_rank(text, first_out)) {
        return false;
    }
    *last_out = *first_out;
    if (**text == '-') {
        (*text)++;
        if (!read_rank(text, last_out) || *last_out < *first_out) {
            return false;
        }
    }
    if (**text == ',') {
        (*text)++;
        return **text != '\0';
    }
    return **text == '\0';
}

bool mds_ranks_is_valid(const char *text)
{
    uint32_t first, last;

    if (strcmp(text, "all") == 0) {
        return true;
    }
    if (*text == '\0') {
        return false;
    }
    while (*text != '\0') {
        if (!read_range(&text, &first, &last)) {
            return false;
        }
    }
    return true;
}

bool mds_ranks_has(const char *text, uint32_t rank)
{
    uint32_t first, last;

    while (read_range(&text, &first, &last)) {
        if (rank >= first && rank <= last) {
            return true;
        }
    }
    return strcmp(text, "all") == 0;
}

bool mds_names_has(const char *text, const char *name)
{
    while (*text != '\0') {
        char pattern[N_PATTERN_BYTES];
        size_t n_bytes = strcspn(text, ",");

        if (n_bytes < sizeof(pattern)) {
            memcpy(pattern, text, n_bytes);
            pattern[n_bytes] = '\0';
            if (fnmatch(pattern, name, 0) == 0) {
                return true;
            }
        }
        text += n_bytes;
        text += *text == ',';
    }
    return false;
}
