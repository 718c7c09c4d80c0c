/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads who has started whom; see kin.h.
 */
#include "kin.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST_STEPS = 1000, LINE_BYTES = 512 };

/** @return the parent, 0: there is none, or it cannot be known */
static int64_t parent_of(int64_t pid)
{
    char name[64], line[LINE_BYTES] = "";
    int64_t parent = 0;
    const char *behind;
    FILE *file;

    snprintf(name, sizeof(name), "/proc/%" PRId64 "/stat", pid);
    file = fopen(name, "r");
    if (file == NULL) {
        return 0;
    }
    /* The program's name, in parentheses, may have any characters. */
    if (fread(line, 1, sizeof(line) - 1, file) > 0 &&
        (behind = strrchr(line, ')')) != NULL) {
        sscanf(behind, ") %*c %" SCNd64, &parent);
    }
    fclose(file);
    return parent;
}

bool kin_is_below(int64_t pid, int64_t ancestor)
{
    for (int i = 0; i < MOST_STEPS && pid > 0; i++) {
        if (pid == ancestor) {
            return true;
        }
        pid = parent_of(pid);
    }
    return false;
}
