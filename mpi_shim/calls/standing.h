/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the shim knows of a wait that has lasted for a while, for those who look at the
 * job (libbcs/api/record/stand_tell.h): what requests are about. Run by the thread that
 * waits, under the lock.
 */
#ifndef SHIM_STANDING_H
#define SHIM_STANDING_H

#include <mpi.h>
#include <stdbool.h>

#include "libbcs/api/record/stand_tell.h"

#pragma GCC visibility push(hidden)

/** Hook: what one of our requests is about. */
void shim_standing_describe(const struct bcs_request *request,
                            struct bcs_stand_about *about);

/** Hook: whether a communicator is being made meanwhile, for which the process may
 *  send. */
bool shim_standing_has_others(void);

/** A call waits for requests of a list, which may have the real library's, too. */
void shim_standing_tell(struct bcs_waiter *waiter, int count,
                        const MPI_Request requests[], bool needs_all);

#pragma GCC visibility pop

#endif
