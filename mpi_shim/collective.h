/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the collectives' entry points share: collective.c and collective_blocks.c. The
 * entry points themselves (shim_Bcast and so on) are declared in symbols.h.
 */
#ifndef MPI_SHIM_COLLECTIVE_H
#define MPI_SHIM_COLLECTIVE_H

#include "mpi_shim/comm.h"
#include "mpi_shim/datatype.h"
#include <bcs/bcs.h>

/** The communicator of a call, which stays while the call lasts; NULL: not ours. */
struct shim_comm *shim_collective_comm(MPI_Comm handle);

/** Whether the communicator has a member of that rank. */
static inline bool shim_collective_has_rank(const struct shim_comm *comm, int rank)
{
    return rank >= 0 && rank < comm->group.size;
}

/** The error class of a count and a type (NULL: not usable), or MPI_SUCCESS. */
int shim_collective_class(int count, const struct shim_datatype *type);

/** The return value of an MPI call for a result of the API; errors are raised. */
int shim_collective_result(MPI_Comm comm, int status);

#endif
