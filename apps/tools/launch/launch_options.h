/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of bcsrun: its own options are taken out, mpirun's are understood as
 * far as it takes to find the programs, and all the rest is handed on as it is. Used by
 * bcsrun only.
 */
#ifndef APPS_TOOLS_LAUNCH_LAUNCH_OPTIONS_H
#define APPS_TOOLS_LAUNCH_LAUNCH_OPTIONS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "apps/tools/findings/findings.h"

/** One program of the job with mpirun's options for it; several are separated by ":".
 */
struct launch_context {
    char **arguments; /* options for mpirun, then the program and its arguments */
    int n_arguments;
    const char *program;   /* NULL: none given */
    const char *directory; /* of --wdir, or NULL */
    const char *path;      /* of --path, or NULL */
    int n_ranks;           /* of -n; 0: not given */
    /* The sanitizer's library that must be loaded before all others, or "". */
    char runtime[NAME_MAX + 1];
};

/** What the user asked for. Strings belong to argv. */
struct launch_options {
    bool is_native; /* without BCS */
    bool wants_help;
    bool wants_version;
    bool names_hosts;     /* the job may reach other machines */
    bool maps_ranks;      /* the user decides where ranks go */
    bool picks_networks;  /* the user decides how ranks exchange data */
    int n_pairs;          /* of --versus; 0: one plain run */
    bool wants_lint;      /* --lint: what is left at the end is told */
    const char *records;  /* folder of --mds, where the run is recorded; or NULL */
    uint64_t patience_ns; /* of --patience; 0: none */
    uint64_t progress_ns; /* of --progress; 0: none */
    /* Files of --json, --sarif and --junit, where what was found is written; or NULL */
    const char *documents[FINDINGS_FORMS];
    const char *diagnosis; /* the page of --diagnose; or NULL */
    const char *mpirun;    /* of --mpirun, or NULL: look in PATH */
    const char *preload;   /* of -x LD_PRELOAD=..., or NULL */
    struct launch_context *contexts;
    int n_contexts;
};

/**
 * Read the command line. BCS_* variables given as -x NAME=value are put into the
 * environment, where they are checked and forwarded like all others.
 *
 * @return 0   options_out is filled; free it with launch_options_fini
 * @return <0  an error, which has been printed
 */
int launch_options_parse(int argc, char **argv, struct launch_options *options_out);

/** Free what launch_options_parse allocated. */
void launch_options_fini(struct launch_options *options);

#endif
