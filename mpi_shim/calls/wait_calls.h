/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the entry points that test a request have in common. Called after shim_enter.
 */
#ifndef MPI_SHIM_CALLS_WAIT_CALLS_H
#define MPI_SHIM_CALLS_WAIT_CALLS_H

#include <stdbool.h>

/** A test has found that something is not over: move it on. Called under the lock.
 *  @return whether something may have come of it, so that it should look again */
bool shim_request_progress(void);

#endif
