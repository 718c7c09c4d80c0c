/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The numbers of persistent collectives. Members make those of a communicator in the
 * same order, and may start them in any: so each has a number from its beginning, the
 * same at all members, that is its own for as long as it is there. Called under the
 * lock. [MPI-4.0 section 6.13]
 */
#ifndef MPI_SHIM_NUMBERS_H
#define MPI_SHIM_NUMBERS_H

#include "mpi_shim/comm/comm.h"

/**
 * The number of the next persistent collective of a communicator.
 *
 * @return 0        give it back with shim_number_give_back
 * @return -ENOMEM  no memory
 * @return -ENOSPC one that was made BCS_PERSISTENT_NUMBERS before is still there;
 *                  logged
 */
int shim_number_take(struct shim_comm *comm, uint32_t *number_out);

/** The collective is there no more. */
void shim_number_give_back(struct shim_comm *comm, uint32_t number);

#endif
