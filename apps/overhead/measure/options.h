/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of overhead_measure.
 */
#ifndef OVERHEAD_OPTIONS_H
#define OVERHEAD_OPTIONS_H

#include "apps/overhead/measure/measure.h"

enum { OPTIONS_HELP = 1, OPTIONS_ERROR_BYTES = 256 };

/** The experiment of this name, or NULL. */
const struct experiment *experiment_find(const char *name);

/**
 * Read the command line and check that it suits the number of ranks.
 *
 * @param measure its options are set, and its experiment, also if an error is returned
 * @param error   what is wrong, of OPTIONS_ERROR_BYTES; set if -EINVAL is returned
 * @return 0, OPTIONS_HELP, or -EINVAL
 */
int options_read(struct measure *measure, int argc, char **argv, char *error);

/** Print what the program does and its options. */
void help_print(void);

#endif
