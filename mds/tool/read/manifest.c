/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads manifests; see manifest.h. One thread.
 */
#include "mds/tool/read/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/fabric/base/utf8.h"

bool manifest_line(const char **at, struct manifest_line *line_out)
{
    while (**at != '\0') {
        const char *line = *at;
        size_t n_bytes = strcspn(line, "\n");
        const char *colon = memmem(line, n_bytes, ": ", 2);

        *at = line + n_bytes + (line[n_bytes] == '\n');
        if (colon != NULL) {
            *line_out = (struct manifest_line){
                .key = line,
                .n_key_bytes = (size_t)(colon - line),
                .value = colon + 2,
                .n_value_bytes = (size_t)(line + n_bytes - colon - 2),
            };
            return true;
        }
    }
    return false;
}

char *manifest_unescape(const char *value, size_t n_bytes)
{
    char *text = malloc(n_bytes + 1);
    size_t n = 0;

    for (size_t i = 0; i < n_bytes && text != NULL; i++) {
        bool is_escape = value[i] == '\\' && i + 1 < n_bytes;

        i += is_escape;
        text[n++] = is_escape && value[i] == 'n' ? '\n' : value[i];
    }
    if (text != NULL) {
        text[n] = '\0';
    }
    return text;
}

bool manifest_value(const char *manifest, const char *key, uint32_t number,
                    char *value_out, size_t n_value_bytes)
{
    const char *at = manifest;
    struct manifest_line line;

    while (manifest_line(&at, &line)) {
        if (line.n_key_bytes == strlen(key) &&
            memcmp(line.key, key, line.n_key_bytes) == 0 && number-- == 0) {
            snprintf(value_out, n_value_bytes, "%.*s", (int)line.n_value_bytes,
                     line.value);
            return true;
        }
    }
    value_out[0] = '\0';
    return false;
}

/** Whether a word means itself to a shell. */
static bool is_plain(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_@%+=:,./-";

    return *word != '\0' && word[strspn(word, plain)] == '\0';
}

void manifest_print(FILE *out, const char *bytes, size_t n_bytes)
{
    for (size_t i = 0, n; i < n_bytes; i += n) {
        unsigned char first = (unsigned char)bytes[i];
        bool is_plain;

        n = bcs_utf8_bytes(bytes + i, n_bytes - i);
        is_plain = n > 0 && first >= ' ' && first != 0x7f &&
                   (n != 2 || first != 0xc2 || (unsigned char)bytes[i + 1] >= 0xa0);
        n = n > 0 ? n : 1;
        if (is_plain) {
            fwrite(bytes + i, 1, n, out);
        } else {
            fputc('?', out);
        }
    }
}

/** Print a word as a shell would take it, but for characters that control a
 *  terminal. */
static void print_word(FILE *out, const char *word)
{
    bool is_quoted = !is_plain(word);

    fputs(is_quoted ? "'" : "", out);
    while (*word != '\0') {
        size_t n = strcspn(word, "'");

        manifest_print(out, word, n);
        word += n;
        if (*word == '\'') {
            fputs("'\\''", out);
            word++;
        }
    }
    fputs(is_quoted ? "'" : "", out);
}

/** Print the line's word, if it is one of the command. @return false: no memory */
static bool print_line(FILE *out, const struct manifest_line *line)
{
    bool is_program = line->n_key_bytes == 7 && memcmp(line->key, "program", 7) == 0;
    char *word;

    if (!is_program &&
        (line->n_key_bytes != 8 || memcmp(line->key, "argument", 8) != 0)) {
        return true;
    }
    word = manifest_unescape(line->value, line->n_value_bytes);
    if (word == NULL) {
        return false;
    }
    fputs(is_program ? "" : " ", out);
    print_word(out, word);
    free(word);
    return true;
}

char *manifest_command(const char *manifest)
{
    struct manifest_line line;
    size_t n_bytes;
    char *text = NULL;
    FILE *out = open_memstream(&text, &n_bytes);
    bool is_done = out != NULL;

    while (is_done && manifest_line(&manifest, &line)) {
        is_done = print_line(out, &line);
    }
    if ((out != NULL && fclose(out) != 0) || !is_done) {
        free(text);
        return NULL;
    }
    return text;
}
