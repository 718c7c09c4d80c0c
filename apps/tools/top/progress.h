/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accompanies the jobs of a launcher with a line now and then: how fast they go, and
 * who waits in what. What bcsrun --progress runs. One thread.
 */
#ifndef APPS_TOOLS_TOP_PROGRESS_H
#define APPS_TOOLS_TOP_PROGRESS_H

#include <stdint.h>

/**
 * Print a line on standard output each interval_ns that a job runs, until this process
 * is killed.
 *
 * @param starter  process that starts the jobs, itself or by others
 * @return EXIT_FAILURE: a job cannot be looked at, which has been said
 */
int progress_tell(int64_t starter, uint64_t interval_ns);

#endif
