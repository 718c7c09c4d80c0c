/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a child process to its end, whatever becomes of it. Used by bcsrun for its
 * keeper and by the keeper for mpirun.
 */
#ifndef APPS_TOOLS_LAUNCH_WATCH_H
#define APPS_TOOLS_LAUNCH_WATCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/** The signal by which somebody asks where the job stands. Who does not know it ignores
 *  it. */
#define WATCH_ASK SIGURG

/** How a child ended. */
struct watch_result {
    int status;          /* exit status as a shell has it: 128 + n after signal n */
    bool is_interrupted; /* a signal asked this process to stop */
    bool is_killed;      /* the child was killed, by us or by others */
};

/** A child to run. */
struct watch_child {
    const char *name; /* in messages */
    /** What the child does, in the child. signals: the mask as it was before all of
     *  this; the child still has those blocked that are passed on. @return its exit
     *  status */
    int (*run)(void *arg, const sigset_t *signals);
    void *arg;
    bool has_own_group;
    int group;         /* process group to join otherwise */
    uint64_t grace_ns; /* to end in after a signal; then the child is killed */
    bool is_hasty;     /* a second signal ends the grace */
    /** Called for a WATCH_ASK in place of passing it on; may start more children, which
     *  are not waited for. NULL: it is passed on. */
    void (*ask)(void *asked);
    void *asked;
    /** Called when first_look_ns have passed since the child's start, and then when it
     *  has said: looks at what the child does. @return in how many nanoseconds to call
     *  it again; 0: never. NULL: nobody looks */
    uint64_t (*look)(void *looked);
    void *looked;
    uint64_t first_look_ns;
};

/**
 * Start the child and wait until it and, should it be killed or have been told to stop,
 * all that it started have ended. Signals that come meanwhile are passed on. If this
 * process is killed, the child gets SIGTERM.
 *
 * @return 0   result_out is filled
 * @return <0  it could not be started; printed
 */
int watch_run(const struct watch_child *child, struct watch_result *result_out);

#endif
