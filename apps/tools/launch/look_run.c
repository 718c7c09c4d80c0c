/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts bcs-top; see look_run.h.
 */
#include "apps/tools/launch/look_run.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "apps/tools/launch/bcsrun_error.h"
#include "apps/tools/launch/launch_check.h"

enum { NUMBER_BYTES = 24, MOST_ARGUMENTS = 5 };

/** @return 0, path_out holds it, or <0, printed */
static int top_find(char path_out[PATH_MAX])
{
    int err = launch_find_top(path_out, PATH_MAX);

    return err == -ENOENT
               ? bcsrun_error("%s, which tells where ranks stand, is missing: "
                              "build bcs with Jansson, or install it again",
                              path_out)
               : err;
}

/* In the child. Does not return. */
static void top_exec(const struct launch_home *home, pid_t keeper, char *const *command)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != keeper) {
        _exit(128 + SIGKILL); /* it died before the line above */
    }
    dup2(STDERR_FILENO, STDOUT_FILENO);
    sigprocmask(SIG_SETMASK, home->signals, NULL);
    execv(command[0], command);
    bcsrun_error("cannot start %s: %s", command[0], strerror(errno));
    fflush(NULL);
    _exit(127);
}

/** Run bcs-top with an option, its value or NULL, and this process. */
static void top_start(const struct launch_home *home, const char *option,
                      const char *value)
{
    char path[PATH_MAX], pid[NUMBER_BYTES];
    const char *command[MOST_ARGUMENTS] = {path, option, value == NULL ? pid : value,
                                           value == NULL ? NULL : pid, NULL};
    pid_t keeper = getpid(), child;

    if (top_find(path) < 0) {
        return;
    }
    snprintf(pid, sizeof pid, "%ld", (long)keeper);
    fflush(NULL);
    child = fork();
    if (child == 0) {
        top_exec(home, keeper, (char *const *)(uintptr_t)command);
    }
    if (child < 0) {
        bcsrun_error("cannot start bcs-top: %s", strerror(errno));
    }
}

int look_check(void)
{
    char path[PATH_MAX];

    return top_find(path);
}

void look_ask(const struct launch_home *home)
{
    top_start(home, "--of", NULL);
}

/** Run bcs-top with an option and a time. */
static void top_start_timed(const struct launch_home *home, const char *option,
                            uint64_t ns)
{
    char text[NUMBER_BYTES];

    snprintf(text, sizeof text, "%" PRIu64, ns);
    top_start(home, option, text);
}

void look_watch(const struct launch_home *home, uint64_t patience_ns)
{
    top_start_timed(home, "--patience", patience_ns);
}

void look_accompany(const struct launch_home *home, uint64_t interval_ns)
{
    top_start_timed(home, "--progress", interval_ns);
}
