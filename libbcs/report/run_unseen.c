/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a tool unseen; see run_unseen.h. A child becomes one with SIGCHLD when it
 * becomes another program, whatever it was made with. So there is one in between, a
 * clone without a signal at its end, which only who asks for such (__WCLONE) can wait
 * for: it has the tool as its own child and waits for it. It uses this process's
 * memory, on a stack of its own, while the calling thread stands still; signals are
 * blocked in it, as a handler of the program must not run there.
 */
#include "libbcs/report/run_unseen.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK_BYTES = 256 * 1024 };

/** What the one in between is to do, and what has become of it. */
struct run {
    char *const *arguments;
    char *const *environment;
    sigset_t signals; /* that were blocked before */
    int error;
    int status;
};

/** Start the tool. @return 0 or an errno */
static int start(const struct run *run, pid_t *child_out)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int rc;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &run->signals);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    rc = posix_spawnp(child_out, run->arguments[0], &actions, &attributes,
                      run->arguments, run->environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

/** Wait for a child. @param options  of waitpid @return 0 or an errno */
static int await(pid_t child, int options, int *status_out)
{
    while (waitpid(child, status_out, options) < 0) {
        if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

/** A clone function. */
static int go_between(void *arg)
{
    struct run *run = arg;
    pid_t child;

    run->error = start(run, &child);
    if (run->error == 0) {
        run->error = await(child, 0, &run->status);
    }
    _exit(EXIT_SUCCESS);
}

int bcs_run_unseen(char *const arguments[], char *const environment[], int *status_out)
{
    struct run run = {.arguments = arguments, .environment = environment};
    char *stack = aligned_alloc(64, STACK_BYTES);
    int rc, between_status;
    sigset_t all;
    pid_t child;

    if (stack == NULL) {
        return ENOMEM;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &run.signals);
    child = clone(go_between, stack + STACK_BYTES, CLONE_VM | CLONE_VFORK, &run);
    rc = child < 0 ? errno : await(child, __WCLONE, &between_status);
    pthread_sigmask(SIG_SETMASK, &run.signals, NULL);
    free(stack);
    if (rc == 0) {
        rc = run.error;
        *status_out = run.status;
    }
    return rc;
}
