/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is wrong with the arguments of a collective call, in words. Called under the
 * lock, after the check has found an error.
 */
#ifndef MPI_SHIM_COLLECTIVE_FAULT_H
#define MPI_SHIM_COLLECTIVE_FAULT_H

#include "mpi_shim/collective/collective.h"
#include "mpi_shim/real/fault.h"

/** Say what is wrong with a call. @param error_class  as shim_collective_check returned
 *  it @param words_out  "": there is no more to say */
void shim_collective_fault(const struct shim_comm *comm,
                           const struct shim_collective *call, int error_class,
                           char words_out[SHIM_FAULT_BYTES]);

#endif
