/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads selections; see selection.h. Any process, at its start.
 */
#include "mds/selection.h"

#include <fnmatch.h>
#include <string.h>

enum { N_DIGITS_MOST = 9, N_SLICE_DIGITS_MOST = 18, N_PATTERN_BYTES = 128 };

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

/** Read a number of slices at text, and go behind it. @return whether there is one */
static bool read_slices(const char **text, uint64_t *number_out)
{
    size_t n_digits = strspn(*text, "0123456789");

    if (n_digits == 0 || n_digits > N_SLICE_DIGITS_MOST) {
        return false;
    }
    *number_out = 0;
    for (size_t i = 0; i < n_digits; i++) {
        *number_out = 10 * *number_out + (uint64_t)((*text)[i] - '0');
    }
    *text += n_digits;
    return true;
}

/** Read a window. @return whether it is one */
static bool read_window(const char *text, uint64_t *first_out, uint64_t *n_out)
{
    return read_slices(&text, first_out) && *text++ == ',' &&
           read_slices(&text, n_out) && *text == '\0' && *n_out > 0;
}

bool mds_window_is_valid(const char *text)
{
    uint64_t first, n;

    return *text == '\0' || read_window(text, &first, &n);
}

void mds_window_read(const char *text, uint64_t *first_out, uint64_t *n_out)
{
    if (!read_window(text, first_out, n_out)) {
        *first_out = 0;
        *n_out = 0;
    }
}
