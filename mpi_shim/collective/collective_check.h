/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The check of the arguments of collective calls. Called under the lock.
 */
#ifndef MPI_SHIM_COLLECTIVE_CHECK_H
#define MPI_SHIM_COLLECTIVE_CHECK_H

#include "mpi_shim/collective/collective.h"

/** Find the role; root is the call's, also MPI_ROOT or MPI_PROC_NULL. */
enum shim_role shim_collective_role(const struct shim_comm *comm, int root);

/** shim_collective_check: the call is one for the real library. */
#define SHIM_COLLECTIVE_FOREIGN (-1)

/**
 * Check the arguments, and look up what they name. Called under the lock.
 *
 * @return MPI_SUCCESS, the error class, or SHIM_COLLECTIVE_FOREIGN: a reduction that is
 *         not known here; so all ranks find. End with shim_collective_forget in any
 *         case
 */
int shim_collective_check(struct shim_comm *comm, struct shim_collective *call);

#endif
