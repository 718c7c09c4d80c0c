/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the file of an address in /proc; see where.h.
 */
#include "where.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** The file of code that an address of a process is in. @return its path, for free, or NULL */
static char *path_of(int64_t pid, uint64_t address)
{
    char name[64], line[4200], path[4097];
    uint64_t begin, end;
    FILE *maps;
    char *found = NULL;

    snprintf(name, sizeof(name), "/proc/%" PRId64 "/maps", pid);
    maps = fopen(name, "r");
    while (maps != NULL && found == NULL && fgets(line, sizeof(line), maps) != NULL) {
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s %4096[^\n]", &begin,
                   &end, path) == 3 &&
            address >= begin && address < end) {
            found = strdup(path);
        }
    }
    if (maps != NULL) {
        fclose(maps);
    }
    return found;
}

char *where_words(struct places *places, int64_t pid, uint64_t address, uint64_t base)
{
    char *path, *words;

    if (address == 0) {
        return NULL;
    }
    path = path_of(pid, address);
    words = place_describe(places, &(struct place_module){.path = path}, address - base,
                           NULL);
    free(path);
    return words;
}
