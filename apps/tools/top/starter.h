/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The jobs that a launcher starts, one after the other, for who accompanies them. One
 * thread.
 */
#ifndef APPS_TOOLS_TOP_STARTER_H
#define APPS_TOOLS_TOP_STARTER_H

#include <stdbool.h>
#include <stdint.h>

#include "apps/tools/look/look.h"

/** A job that has been found. */
struct starter_job {
    struct bcs_look_found found;
    struct bcs_look *look;
};

/**
 * Wait for a job of the launcher, for ever if there is none, and look at it.
 *
 * @param starter  process that starts the jobs, itself or by others
 * @param job_out  end with bcs_look_close of its look
 * @return 0 or -errno: a job cannot be looked at, which has been said
 */
int starter_await_job(int64_t starter, struct starter_job *job_out);

/** Sleep. */
void starter_sleep(uint64_t ns);

#endif
