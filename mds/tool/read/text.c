/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Texts of others as UTF-8; see text.h. Pure.
 */
#include "mds/tool/read/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

/** Whether a code may be written in so many bytes. */
static bool is_character(uint32_t code, size_t n_bytes)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};

    return code >= least[n_bytes] && code <= 0x10ffff &&
           (code < 0xd800 || code > 0xdfff);
}

size_t text_character(const char *bytes, size_t n)
{
    unsigned char first = n > 0 ? (unsigned char)bytes[0] : 0;
    size_t n_bytes = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    uint32_t code = n_bytes == 1 ? first : first & (0x7fu >> n_bytes);

    if (n < n_bytes || (first >= 0x80 && first < 0xc0) || first > 0xf7) {
        return 0;
    }
    for (size_t i = 1; i < n_bytes; i++) {
        if (((unsigned char)bytes[i] & 0xc0) != 0x80) {
            return 0;
        }
        code = code << 6 | ((unsigned char)bytes[i] & 0x3f);
    }
    return is_character(code, n_bytes) ? n_bytes : 0;
}

char *text_utf8(const char *bytes, size_t n)
{
    char *text = malloc(3 * n + 1);
    size_t n_text = 0;

    for (size_t i = 0; i < n && text != NULL;) {
        size_t n_bytes = text_character(bytes + i, n - i);
        const char *from = n_bytes > 0 ? bytes + i : replacement;
        size_t n_from = n_bytes > 0 ? n_bytes : sizeof(replacement) - 1;

        memcpy(text + n_text, from, n_from);
        n_text += n_from;
        i += n_bytes > 0 ? n_bytes : 1;
    }
    if (text != NULL) {
        text[n_text] = '\0';
    }
    return text;
}
