/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Access to the process environment for config.c and the programs of apps/tools/launch.
 * Called by single-threaded programs, or at start before other threads exist.
 */
#include "libbcs/fabric/base/environment.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *bcs_environment_get(const char *name)
{
    return getenv(name);
}

const char *bcs_environment_next(const char *prefix, size_t *cursor)
{
    size_t n_prefix = strlen(prefix);

    while (environ != NULL && environ[*cursor] != NULL) {
        const char *variable = environ[(*cursor)++];

        if (strncmp(variable, prefix, n_prefix) == 0) {
            return variable;
        }
    }
    return NULL;
}
