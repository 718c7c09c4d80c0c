/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A run, as documents of its findings tell of it. Filled by bcsrun.
 */
#ifndef APPS_TOOLS_FINDINGS_FINDINGS_RUN_H
#define APPS_TOOLS_FINDINGS_FINDINGS_RUN_H

#include <stdbool.h>
#include <stdint.h>

/** What is known of a run beside its findings. */
struct findings_run {
    char *const *command; /* the whole command line, ended by NULL */
    const char *program;  /* as the user has given it */
    const char *mpi;      /* the MPI library and its version */
    int n_ranks;
    int64_t began_s; /* since 1970 */
    double seconds;
    int status;          /* exit status, as a shell has it */
    bool is_interrupted; /* bcsrun was told to stop */
    bool is_killed;      /* mpirun, or bcsrun's keeper, was killed */
};

#endif
