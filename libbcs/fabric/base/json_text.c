/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Texts in JSON; see json_text.h. Pure.
 */
#include "libbcs/fabric/base/json_text.h"

#include <string.h>

#include "libbcs/fabric/base/utf8.h"

/** Write one character of so many bytes; 0: the first byte is no part of any. */
static void write_character(FILE *out, const char *bytes, size_t n_bytes)
{
    unsigned char first = (unsigned char)bytes[0];

    if (n_bytes == 0) {
        fputs("\\ufffd", out);
    } else if (first < 0x20 || first == 0x7f) {
        fprintf(out, "\\u%04x", first);
    } else {
        fprintf(out, "%s%.*s", first == '"' || first == '\\' ? "\\" : "", (int)n_bytes,
                bytes);
    }
}

void bcs_json_text(FILE *out, const char *text)
{
    size_t n_left = text == NULL ? 0 : strlen(text);

    fputc('"', out);
    while (n_left > 0) {
        size_t n = bcs_utf8_bytes(text, n_left), n_taken = n > 0 ? n : 1;

        write_character(out, text, n);
        text += n_taken;
        n_left -= n_taken;
    }
    fputc('"', out);
}
