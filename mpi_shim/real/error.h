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
 * comm is NULL or MPI_COMM_NULL, as the call is on none). If that handler is fatal, the
 * call that the program has made, its line and what is wrong with it are printed, and
 * the job ends with the error's class as its status; where members are in different
 * collectives, with BCS_EXIT_MISMATCH. What the program has called is known by the
 * entry point's frame (mpi_shim/calls/call_place.c), so that no entry point may call
 * this last; shim_keep_frame sees to it.
 *
 * @param error_class  MPI_ERR_TRUNCATE and the like; MPI_SUCCESS does nothing
 * @param words        what is wrong, "root 7, but ..."; "": as MPI_Error_string says
 * @return error_class, to be returned by the MPI function
 */
int shim_error_of(MPI_Comm comm, int error_class, const char *words);

/** Around the last call of an entry point that may raise an error: it is no tail
 *  call. */
static inline __attribute__((always_inline)) int shim_keep_frame(int rc)
{
    __asm__ volatile("" : "+r"(rc));
    return rc;
}

/** shim_error_of, of which no more is known than the class. For entry points, too. */
static inline __attribute__((always_inline)) int shim_error(MPI_Comm comm,
                                                            int error_class)
{
    return error_class == MPI_SUCCESS
               ? error_class
               : shim_keep_frame(shim_error_of(comm, error_class, ""));
}

/** An error handler that is set aside. */
struct shim_hush {
    MPI_Comm comm; /* whose it is; NULL: none is */
};

/** Before a call of the real library that is to find out what is wrong with arguments:
 *  a fatal error handler of the communicator (NULL: MPI_COMM_WORLD) does not see it.
 *  Others do. */
struct shim_hush shim_hush_begin(MPI_Comm comm);

/** After that call. @return the class of its error code rc */
int shim_hush_end(const struct shim_hush *hush, int rc);

/** MPI_Abort, after one line that names this rank, the communicator and the code. */
int shim_error_abort(MPI_Comm comm, int code);

/** End the job with an exit status, when all that was printed has been read. Any
 *  thread; does not return. A hook of the context. */
void shim_error_end_job(int status);

/** The error class of what the API has returned. */
int shim_class_of_status(int status);

/** This process's rank in MPI_COMM_WORLD; -1 before MPI_Init and after MPI_Finalize. */
int shim_world_rank(void);

#pragma GCC visibility pop

#endif
