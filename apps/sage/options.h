/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of sage. Every rank parses it, with the same outcome.
 */
#ifndef SAGE_OPTIONS_H
#define SAGE_OPTIONS_H

#include <stdbool.h>

#define OPTIONS_MAX_SETTINGS 64

struct options {
    bool help;
    /* From --set, KEY=VALUE each. All texts point into argv. */
    const char *settings[OPTIONS_MAX_SETTINGS];
    int n_settings;
    /* NULL if no file is wanted. */
    const char *cells_path;
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
