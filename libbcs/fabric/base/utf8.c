/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Characters of UTF-8; see utf8.h. Pure.
 */
#include "libbcs/fabric/base/utf8.h"

#include <stdbool.h>
#include <stdint.h>

/** Whether a code may be written in so many bytes. */
static bool is_character(uint32_t code, size_t n_bytes)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};

    return code >= least[n_bytes] && code <= 0x10ffff &&
           (code < 0xd800 || code > 0xdfff);
}

size_t bcs_utf8_bytes(const char *bytes, size_t n)
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
