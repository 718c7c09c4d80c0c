/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares parts of paths with patterns; see skip_list.h.
 */
#include "mpi_shim/calls/skip_list.h"

#include <stdio.h>
#include <string.h>

#include "mds/selection.h"

enum { PART_BYTES = 258 }; /* of a name, and the slashes of a folder's */

void shim_skip_list(const char *setting, const char *usual, char *list_out,
                    size_t n_bytes)
{
    bool is_more = setting[0] == '+';

    snprintf(list_out, n_bytes, "%s%s%s", is_more ? usual : "", is_more ? "," : "",
             setting + is_more);
}

bool shim_skip_has(const char *list, const char *path)
{
    while (*path != '\0') {
        size_t n = strcspn(path, "/");
        const char *slash = path[n] == '/' ? "/" : "";
        char part[PART_BYTES];

        if (n > 0 && n + 2 < sizeof(part)) {
            snprintf(part, sizeof(part), "%s%.*s%s", slash, (int)n, path, slash);
            if (mds_names_has(list, part)) {
                return true;
            }
        }
        path += n + (*slash != '\0');
    }
    return false;
}
