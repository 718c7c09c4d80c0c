/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The collective slots that this process leads: which are free, and which will be as
 * soon as all members have left. Called by comm_table.c, under the lock.
 */
#ifndef MPI_SHIM_SLOTS_H
#define MPI_SHIM_SLOTS_H

#include "mpi_shim/comm/comm.h"

/**
 * Take a slot for a communicator that this process is to lead. Waits only if all are
 * used and some member has yet to leave a communicator that this process has left.
 *
 * @return false  this process leads too many communicators
 */
bool shim_slot_take(uint32_t *slot_out);

/** This process leaves a communicator, which is out of the table; takes over the use of
 *  it by its handle. Does not wait for other members. */
void shim_slot_leave(struct shim_comm *comm);

/** Forget the communicators that some members may not have left. */
void shim_slots_teardown(void);

#endif
