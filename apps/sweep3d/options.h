/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of sweep3d. Every rank parses it, with the same outcome.
 */
#ifndef SWEEP3D_OPTIONS_H
#define SWEEP3D_OPTIONS_H

#include <stdbool.h>

#include "apps/common/command_line.h"

struct options {
    bool nonblocking;
    /* From --grid; 0 x 0 if the input file decides. */
    int npe_i, npe_j;
    /* Points into argv; NULL if no file is wanted. */
    const char *flux_path;
    const char *input_path; /* the operand */
};

/** What --help prints. */
extern const char options_help[];

/** The command line; its operand is the input file. */
extern const struct command_line options_line;

#endif
