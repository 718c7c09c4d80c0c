/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What mpirun is started with: its arguments and the settings in its environment.
 * Used by bcsrun only.
 */
#ifndef APPS_TOOLS_LAUNCH_LAUNCH_COMMAND_H
#define APPS_TOOLS_LAUNCH_LAUNCH_COMMAND_H

#include "apps/tools/launch/launch_options.h"

/**
 * Make mpirun's argument list. For each program of the job, BCS_* variables are
 * forwarded and, if preload is not NULL, the ranks (and only they) get it in
 * LD_PRELOAD, behind what the user has there.
 *
 * @param instead  program to start without arguments in place of each; NULL: none
 * @return the list, ending with NULL, to be freed with launch_command_free; or NULL
 * when out of memory
 */
char **launch_command_make(const struct launch_options *options, const char *mpirun,
                           const char *preload, const char *instead);

/** Free a list of launch_command_make; accepts NULL. */
void launch_command_free(char **command);

/**
 * Put Open MPI's settings for this launch into the environment, where the user has not
 * set them: more ranks than cores, root, and all its files in scratch (unless NULL).
 */
void launch_settings_apply(const struct launch_options *options, const char *scratch);

/** How many ranks there will be; if nobody has said, as many as cores. */
int launch_n_ranks(const struct launch_options *options);

/** Whether the job may reach other machines: named by the user or by a batch system. */
bool launch_is_remote(const struct launch_options *options);

#endif
