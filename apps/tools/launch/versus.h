/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcsrun --versus: the same job natively and under BCS, in pairs.
 */
#ifndef APPS_TOOLS_LAUNCH_VERSUS_H
#define APPS_TOOLS_LAUNCH_VERSUS_H

#include "apps/tools/launch/launch_run.h"

/** The command lines of one side. */
struct versus_commands {
    char **job;
    char **launcher; /* the same launch of a program that does nothing */
};

/**
 * Run n_pairs pairs, the sides in turn first, and print each pair's wall seconds, the
 * medians, what of them is the launcher's, and the ratios. The jobs' output is shown
 * only if one fails, which ends the comparison.
 *
 * @return the exit status for bcsrun: 0, or that of the run that failed
 */
int versus_run(const struct launch_home *home, const struct versus_commands *native,
               const struct versus_commands *bcs, int n_pairs);

#endif
