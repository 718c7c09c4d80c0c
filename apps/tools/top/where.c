/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words for an address of a process; see where.h.
 */
#include "where.h"

#include <stdlib.h>

#include "process_text.h"

char *where_words(struct places *places, const char *file, int64_t pid,
                  uint64_t address, uint64_t base)
{
    char *path, *words;

    if (address == 0) {
        return NULL;
    }
    path = file == NULL ? process_text_file(pid, address) : NULL;
    words = place_describe(
        places,
        &(struct place_module){.path = file == NULL || *file == '\0' ? path : file},
        address - base, NULL);
    free(path);
    return words;
}
