/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The neighbours of this process on communicators with a topology. Called under the
 * lock.
 */
#ifndef MPI_SHIM_COMM_COMM_NEIGHBORS_H
#define MPI_SHIM_COMM_COMM_NEIGHBORS_H

#include "libbcs/api/collective/neighbors.h"
#include "mpi_shim/comm/comm.h"

/** The neighbours, in the order of the blocks of MPI's neighbourhood collectives; they
 *  belong to the communicator. @return NULL: it has no topology, or no memory */
const struct bcs_neighbors *shim_neighbors_of(struct shim_comm *comm);

#endif
