/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What can be known to be wrong before anything is launched. Each check prints one line
 * that says what and what to do. Used by bcsrun only.
 */
#ifndef APPS_TOOLS_LAUNCH_LAUNCH_CHECK_H
#define APPS_TOOLS_LAUNCH_LAUNCH_CHECK_H

#include <stddef.h>

#include "apps/tools/launch/launch_options.h"

/**
 * Check the program of each context: given, found, executable, and - unless the launch
 * is native - one that the preload can carry: not static, not linked with MPICH. Sets
 * the context's runtime.
 *
 * @return 0 or <0, printed
 */
int launch_check_programs(struct launch_options *options);

/**
 * Find mpirun: the user's choice, else in PATH.
 *
 * @return 0   path_out holds it
 * @return <0  printed
 */
int launch_find_mpirun(const struct launch_options *options, char *path_out,
                       size_t n_path_bytes);

/**
 * Find the preload library next to this program: in the build folder if it runs from
 * there, else where it has been installed.
 *
 * @return 0   path_out holds it, absolute
 * @return <0  printed
 */
int launch_find_preload(char *path_out, size_t n_path_bytes);

/**
 * Find bcs-top next to this program: in the build folder if it runs from there, else
 * where programs have been installed.
 *
 * @return 0        path_out holds it
 * @return -ENOENT  it is not there: bcs was built without Jansson; nothing is printed
 * @return <0       printed
 */
int launch_find_top(char *path_out, size_t n_path_bytes);

/** Find bcs-mds. The same; it is built always. */
int launch_find_mds(char *path_out, size_t n_path_bytes);

#endif
