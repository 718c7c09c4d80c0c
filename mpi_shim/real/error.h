/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors that MPI defines, found by us and raised as the real library would: through
 * the communicator's error handler. Called by all of the shim, in the calling thread.
 */
#ifndef SHIM_ERROR_H
#define SHIM_ERROR_H

#include <mpi.h>

#pragma GCC visibility push(hidden)

/**
 * Raise an error on a communicator: its error handler is called (MPI_COMM_WORLD's if
 * comm is NULL or MPI_COMM_NULL). If that handler is fatal a line that names this rank
 * and the error is printed and the call does not return.
 *
 * @param error_class  MPI_ERR_TRUNCATE and the like; MPI_SUCCESS does nothing
 * @return error_class, to be returned by the MPI function
 */
int shim_error(MPI_Comm comm, int error_class);

/** MPI_Abort, after one line that names this rank, the communicator and the code. */
int shim_error_abort(MPI_Comm comm, int code);

/** The error class of what the API has returned. */
int shim_class_of_status(int status);

/** This process's rank in MPI_COMM_WORLD; -1 before MPI_Init and after MPI_Finalize. */
int shim_world_rank(void);

#pragma GCC visibility pop

#endif
