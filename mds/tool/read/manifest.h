/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Manifests: lines of "key: value". They may be anything but have no zeros. Pure.
 */
#ifndef MDS_TOOL_READ_MANIFEST_H
#define MDS_TOOL_READ_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** A line, in the manifest's text. */
struct manifest_line {
    const char *key, *value;
    size_t n_key_bytes, n_value_bytes;
};

/** The next line that has a key, from *at on, which goes on with the one behind.
 *  @return false: there is none */
bool manifest_line(const char **at, struct manifest_line *line_out);

/** A value as it was before it was written: with new lines. @return for free; NULL: no
 *  memory */
char *manifest_unescape(const char *value, size_t n_bytes);

/**
 * Copy a value as it stands there: of the number-th line with a key.
 *
 * @return false if there is none; value_out is then ""
 */
bool manifest_value(const char *manifest, const char *key, uint32_t number,
                    char *value_out, size_t n_value_bytes);

/** Print bytes of others, with "?" for what is no UTF-8 and what a terminal would
 *  obey. */
void manifest_print(FILE *out, const char *bytes, size_t n_bytes);

/** The program and its arguments as a shell takes them, in UTF-8, with "?" for what a
 *  terminal would obey. @return for free; NULL: no memory */
char *manifest_command(const char *manifest);

#endif
