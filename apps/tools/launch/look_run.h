/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs bcs-top beside a job, which prints where its ranks stand on bcsrun's standard
 * error. Used by bcsrun's keeper, whose one thread starts it: it is killed when the
 * keeper ends.
 */
#ifndef APPS_TOOLS_LAUNCH_LOOK_RUN_H
#define APPS_TOOLS_LAUNCH_LOOK_RUN_H

#include <stdint.h>

#include "apps/tools/launch/launch_run.h"

/** Whether bcs-top is there. @return 0, or <0, printed */
int look_check(void);

/** Print the roll-call of the job that this process has started, once. Does not wait
 *  for it. */
void look_ask(const struct launch_home *home);

/** Print it whenever nothing has moved for patience_ns, until this process ends. */
void look_watch(const struct launch_home *home, uint64_t patience_ns);

/** Print a line about the job each interval_ns, until this process ends. */
void look_accompany(const struct launch_home *home, uint64_t interval_ns);

#endif
