/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Watches the jobs of a launcher, and prints the roll-call when nothing moves any more:
 * a suspicion, which proves nothing. What bcsrun --patience runs. One thread.
 */
#ifndef APPS_TOOLS_TOP_STANDSTILL_H
#define APPS_TOOLS_TOP_STANDSTILL_H

#include <stdint.h>

/**
 * Watch one job after the other until this process is killed. Prints on standard
 * output, with the roll-call, once for each time that nothing moves.
 *
 * @param starter      process that starts the jobs, itself or by others
 * @param patience_ns  for how long nothing has moved
 * @return EXIT_FAILURE: a job cannot be looked at, which has been said
 */
int standstill_watch(int64_t starter, uint64_t patience_ns);

#endif
