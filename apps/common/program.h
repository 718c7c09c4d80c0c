/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of events of an application: command line, input, computation, exit status.
 *
 * Every rank runs it. Whatever goes wrong is agreed upon by all ranks and said once, by
 * rank 0, and all leave through MPI_Finalize with the same exit status. Output is
 * flushed before that: a launcher may end the job as soon as one rank has left with a
 * non-zero status.
 */
#ifndef COMMON_PROGRAM_H
#define COMMON_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

#include "apps/common/command_line.h"

enum { PROGRAM_CHECK_FAILED = 1, PROGRAM_UNUSABLE = 2 };

/** One application; message is MESSAGE_BYTES long. */
struct program {
    struct command_line line;
    const char *help;
    void *options; /* what line.take fills */
    void *run;     /* the application's own state */
    /** Everything that can be found wrong before the computation. @return 0, or another
     *  number on all ranks, and on rank 0 a line in message */
    int (*set_up)(void *run, const char *input_path, char *message);
    /** Compute, report, check. @return as set_up; *passed_out: whether all checks
     *  have */
    int (*compute)(void *run, bool *passed_out, char *message);
    /** Free what set_up has made, as far as it came. */
    void (*tear_down)(void *run);
};

/** Run an application, MPI_Init and MPI_Finalize included. @return its exit status */
int program_main(const struct program *program, int argc, char **argv);

/** Whether this is rank 0. */
bool program_is_root(void);

/**
 * Rank 0 has read the input, with a result: all get it, and the input if it is 0.
 * Collective.
 *
 * @return rank 0's result
 */
int program_share_input(int result, void *input, size_t n_bytes);

#endif
