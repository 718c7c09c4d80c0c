/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs one mpirun to its end. Used by bcsrun's keeper only.
 */
#ifndef APPS_TOOLS_LAUNCH_LAUNCH_RUN_H
#define APPS_TOOLS_LAUNCH_LAUNCH_RUN_H

#include "apps/tools/launch/watch.h"

/** What mpirun is to find as bcsrun has found it. */
struct launch_home {
    const sigset_t *signals;  /* the mask */
    int group;                /* process group, in the terminal's foreground or not */
    void (*ask)(void *asked); /* see struct watch_child */
    void *asked;
    uint64_t (*look)(void *looked); /* the same, but for --native and --versus */
    void *looked;
    uint64_t first_look_ns;
};

/**
 * Start command and wait until it and, should it be killed or have been told to stop,
 * all that it started have ended; see watch_run.
 *
 * @param output_fd  takes standard output and error, with standard input from
 *                   /dev/null; -1: all three are bcsrun's own
 * @return 0   result_out is filled
 * @return <0  it could not be started; printed
 */
int launch_run(const struct launch_home *home, char *const *command, int output_fd,
               struct watch_result *result_out);

#endif
