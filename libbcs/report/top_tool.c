/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds bcs-top: the one of this installation or build, else one that the shell would
 * find. It gets the program's environment, but for what is preloaded.
 */
#include "libbcs/report/top_tool.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libbcs/fabric/base/environment.h"

/* Where bcs-top may be, from the folder of this library: installed, or in a build. */
static const char *const places[] = {
    BCS_INSTALLED_TOOLS "/bcs-top",
    "../apps/tools/top/bcs-top",
    "apps/tools/top/bcs-top",
};
enum { N_PLACES = sizeof(places) / sizeof(places[0]) };

const char *bcs_top_tool_find(char path_out[static BCS_TOP_TOOL_BYTES])
{
    const char *slash;
    Dl_info info;

    if (dladdr(places, &info) == 0 || (slash = strrchr(info.dli_fname, '/')) == NULL) {
        return "bcs-top";
    }
    for (int i = 0; i < N_PLACES; i++) {
        int n_folder = places[i][0] == '/' ? 0 : (int)(slash + 1 - info.dli_fname);

        snprintf(path_out, BCS_TOP_TOOL_BYTES, "%.*s%s", n_folder, info.dli_fname,
                 places[i]);
        if (access(path_out, X_OK) == 0) {
            return path_out;
        }
    }
    return "bcs-top";
}

char **bcs_top_tool_environment(void)
{
    size_t cursor = 0, n = 0;
    const char *one;
    char **list;

    while (bcs_environment_next("", &cursor) != NULL) {
        n++;
    }
    list = calloc(n + 1, sizeof(*list));
    cursor = 0;
    n = 0;
    while (list != NULL && (one = bcs_environment_next("", &cursor)) != NULL) {
        if (strncmp(one, "LD_PRELOAD=", strlen("LD_PRELOAD=")) != 0) {
            list[n++] = (char *)(uintptr_t)one;
        }
    }
    return list;
}
