/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Texts of others as UTF-8; see text.h. Pure.
 */
#include "mds/tool/read/text.h"

#include <stdlib.h>
#include <string.h>

#include "libbcs/fabric/base/utf8.h"

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

char *text_utf8(const char *bytes, size_t n)
{
    char *text = malloc(3 * n + 1);
    size_t n_text = 0;

    for (size_t i = 0; i < n && text != NULL;) {
        size_t n_bytes = bcs_utf8_bytes(bytes + i, n - i);
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
