/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of sage. Every rank parses it, with the same outcome.
 */
#ifndef SAGE_OPTIONS_H
#define SAGE_OPTIONS_H

#include "apps/common/command_line.h"

#define OPTIONS_MAX_SETTINGS 64

struct options {
    /* From --set, KEY=VALUE each. All texts point into argv. */
    const char *settings[OPTIONS_MAX_SETTINGS];
    int n_settings;
    /* NULL if no file is wanted. */
    const char *cells_path;
};

/** What --help prints. */
extern const char options_help[];

/** The command line; its operand is the input deck. */
extern const struct command_line options_line;

#endif
