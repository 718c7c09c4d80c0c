/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report of a deadlock; see deadlock_report.h. bcs-top is the one of this installation or build, else
 * one that the shell would find. It gets the program's environment, but for what is preloaded.
 */
#include "libbcs/session/deadlock_report.h"

#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libbcs/base/environment.h"
#include "libbcs/base/log.h"

enum { MOST_RANGES = 6, PATH_BYTES = 4096 };

/* Where bcs-top may be, from the folder of this library: installed, or in a build. */
static const char *const places[] = {
    BCS_INSTALLED_TOOLS "/bcs-top",
    "../libbcs/tools/top/bcs-top",
    "libbcs/tools/top/bcs-top",
};
enum { N_PLACES = sizeof(places) / sizeof(places[0]) };

static bool has(const uint64_t *set, uint32_t rank, uint32_t n_ranks)
{
    return rank < n_ranks && (set[rank / 64] >> rank % 64 & 1) != 0;
}

/** Write a set as "0-3,7", the first ranges of it. @return text, for free, or NULL */
static char *words_of(const uint64_t *set, uint32_t n_ranks, uint32_t n_most)
{
    uint32_t n_ranges = 0;
    size_t n_bytes = 0;
    char *text = NULL;
    FILE *stream = open_memstream(&text, &n_bytes);

    if (stream == NULL) {
        return NULL;
    }
    for (uint32_t first = 0, i; first < n_ranks; first = i + 1) {
        for (i = first; has(set, i, n_ranks); i++) {
        }
        if (i > first && n_ranges == n_most) {
            fputs(",...", stream);
            break;
        }
        if (i > first) {
            fprintf(stream, "%s%u", n_ranges++ > 0 ? "," : "", first);
        }
        if (i > first + 1) {
            fprintf(stream, "-%u", i - 1);
        }
    }
    fclose(stream);
    return text;
}

/** Find bcs-top. @return path_out, or its name alone */
static const char *find_tool(char path_out[static PATH_BYTES])
{
    const char *slash;
    Dl_info info;

    if (dladdr(places, &info) == 0 || (slash = strrchr(info.dli_fname, '/')) == NULL) {
        return "bcs-top";
    }
    for (int i = 0; i < N_PLACES; i++) {
        int n_folder = places[i][0] == '/' ? 0 : (int)(slash + 1 - info.dli_fname);

        snprintf(path_out, PATH_BYTES, "%.*s%s", n_folder, info.dli_fname, places[i]);
        if (access(path_out, X_OK) == 0) {
            return path_out;
        }
    }
    return "bcs-top";
}

/** The environment without what is preloaded. @return for free; NULL: no memory */
static char **environment_of_tool(void)
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

/** The command line. @return for free; NULL: no memory */
static char **arguments_of(const char *tool, char *ranks, char *pid,
                           const struct bcs_deadlock *deadlock)
{
    char *const first[] = {
        (char *)(uintptr_t)tool, (char *)(uintptr_t) "--stuck", ranks, pid,
        (char *)(uintptr_t)(deadlock->path == NULL ? "" : deadlock->path)};
    const size_t n_first = sizeof(first) / sizeof(first[0]);
    char **list = calloc(n_first + deadlock->n_messages + 1, sizeof(*list));

    for (size_t i = 0; list != NULL && i < n_first + deadlock->n_messages; i++) {
        list[i] = i < n_first ? first[i] : deadlock->messages[i - n_first];
    }
    return list;
}

/** Run bcs-top on this job. @return 0, an errno, or -1: it has failed */
static int run_tool(const char *tool, char *ranks, const struct bcs_deadlock *deadlock)
{
    char **environment = environment_of_tool();
    posix_spawn_file_actions_t actions;
    char **arguments, pid[32];
    int status = 0;
    pid_t child;
    int rc;

    snprintf(pid, sizeof(pid), "%ld", (long)getpid());
    arguments = arguments_of(tool, ranks, pid, deadlock);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    rc = environment == NULL || arguments == NULL
             ? ENOMEM
             : posix_spawnp(&child, tool, &actions, NULL, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    free(environment);
    free(arguments);
    while (rc == 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return rc == 0 && status != 0 ? -1 : rc;
}

bool bcs_deadlock_report(const struct bcs_deadlock *deadlock)
{
    uint32_t n_ranks = deadlock->n_ranks;
    char path[PATH_BYTES];
    const char *tool = find_tool(path);
    char *some = words_of(deadlock->stuck, n_ranks, MOST_RANGES);
    char *all = words_of(deadlock->stuck, n_ranks, UINT32_MAX);
    int rc;

    bcs_error("deadlock: rank%s %s can never go on, as nobody is left who could help:",
              some != NULL && some[strspn(some, "0123456789")] == '\0' ? "" : "s",
              some == NULL ? "?" : some);
    rc = all == NULL ? ENOMEM : run_tool(tool, all, deadlock);
    if (rc != 0) {
        bcs_error("%s, which says where they stand, %s", tool,
                  rc < 0 ? "has failed" : strerror(rc));
    }
    free(some);
    free(all);
    return rc == 0;
}

void bcs_deadlock_exit(void)
{
    _exit(BCS_EXIT_DEADLOCK);
}
