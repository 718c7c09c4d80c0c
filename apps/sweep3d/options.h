/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of sweep3d. Every rank parses it, with the same outcome.
 */
#ifndef SWEEP3D_OPTIONS_H
#define SWEEP3D_OPTIONS_H

#include <stdbool.h>

struct options {
    bool help;
    bool nonblocking;
    /* From --grid; 0 x 0 if the input file decides. */
    int npe_i, npe_j;
    /* Both point into argv; flux_path is NULL if no file is wanted. */
    const char *flux_path;
    const char *input_path;
};

/** What --help prints. */
extern const char options_help[];

/**
 * Parse the command line.
 *
 * @param message  gets one line if the result is not 0; MESSAGE_BYTES long
 * @return 0 with *options_out set, or -EINVAL
 */
int options_parse(int argc, char **argv, struct options *options_out, char *message);

#endif
