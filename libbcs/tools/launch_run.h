/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs one mpirun to its end. Used by bcsrun only.
 */
#ifndef BCS_TOOLS_LAUNCH_RUN_H
#define BCS_TOOLS_LAUNCH_RUN_H

#include <stdbool.h>

/** How a run ended. */
struct launch_result {
    int status;          /* exit status as a shell has it: 128 + n after signal n */
    bool is_interrupted; /* a signal asked bcsrun to stop */
};

/**
 * Start command and wait until it and, should it be killed, all that it started have
 * ended. Signals that bcsrun gets meanwhile are passed on to it; if bcsrun is killed,
 * command gets SIGTERM.
 *
 * @param output_fd  takes standard output and error, with standard input from
 *                   /dev/null; -1: all three are bcsrun's own
 * @return 0   result_out is filled
 * @return <0  it could not be started; printed
 */
int launch_run(char *const *command, int output_fd, struct launch_result *result_out);

#endif
