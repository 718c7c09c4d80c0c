/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether several threads of a process are in blocking collectives of one communicator
 * at once, which MPI forbids (MPI-3.1, 5.13). It is told and goes on: where the
 * members' calls fit by chance it ends well, as natively. Called after shim_enter, with
 * MPI_THREAD_MULTIPLE.
 */
#ifndef SHIM_CROWD_H
#define SHIM_CROWD_H

#include "mpi_shim/comm/comm.h"

#pragma GCC visibility push(hidden)

/** A thread begins a blocking collective. */
void shim_crowd_begin(struct shim_comm *comm);

/** It ends. The communicator may be gone then. */
void shim_crowd_end(struct shim_comm *comm);

#pragma GCC visibility pop

#endif
