/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processes that a process has started, and those that these have started. Used by
 * bcsrun's keeper, in its one thread.
 */
#ifndef APPS_TOOLS_LAUNCH_DESCENDANTS_H
#define APPS_TOOLS_LAUNCH_DESCENDANTS_H

#include <sys/types.h>

/** Receives a process. */
typedef void (*descendants_fn)(void *arg, pid_t pid);

/** Call visit for each process below one, parents before their children. A process that
 *  ends meanwhile may be left out, with those below it. */
void descendants_visit(pid_t pid, descendants_fn visit, void *arg);

#endif
