/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long the data of a collective call are, for the MDS. Called under the lock.
 */
#ifndef MPI_SHIM_COLLECTIVE_BYTES_H
#define MPI_SHIM_COLLECTIVE_BYTES_H

#include "mpi_shim/collective/collective.h"

/** Bytes of this rank's data: that it sends, or that it gets, if it sends nothing or
 *  what is in place; of a reduction, of its operand. The call has been checked, and not
 *  forgotten. */
uint64_t shim_collective_bytes(struct shim_comm *comm,
                               const struct shim_collective *call);

/** Have the MDS record that a collective begins. Called while something is recorded. */
void shim_collective_record(struct shim_comm *comm, const struct shim_collective *call);

#endif
