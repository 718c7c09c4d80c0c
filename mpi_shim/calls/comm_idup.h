/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Comm_idup, between its call and its end: shim_state.idups. Called by whatever
 * waits or tests.
 */
#ifndef MPI_SHIM_COMM_IDUP_H
#define MPI_SHIM_COMM_IDUP_H

#include <mpi.h>
#include <stdbool.h>

/** Finish those that are over, so that their requests are done. Called under the lock.
 *  @return whether there were any */
bool shim_idups_move(void);

/**
 * Wait for those of one communicator, before another call of the real library that all
 * its members take part in: of Open MPI 4.1's own duplications the steps are
 * collectives on the old communicator, begun as time goes by, and they must not mix
 * with others. And wait until all others have been begun: this process could not begin
 * them in that call, whose other members may wait for them.
 */
void shim_idups_await(MPI_Comm parent);

#endif
