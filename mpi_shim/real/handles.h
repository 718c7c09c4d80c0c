/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The predefined MPI handles, found at run time. mpi.h defines them as addresses of
 * data inside the MPI library; using those would make this library fail to load in
 * every process that has none. Read by all of the shim, by any thread, after the first
 * entry point has resolved the symbols.
 */
#ifndef SHIM_HANDLES_H
#define SHIM_HANDLES_H

#include <mpi.h>

#pragma GCC visibility push(hidden)

/** The handles that the shim compares with or returns. Filled once, never changed. */
struct shim_handles {
    MPI_Comm comm_world, comm_self, comm_null;
    MPI_Group group_null, group_empty;
    MPI_Request request_null;
    MPI_Message message_null, message_no_proc;
    MPI_Datatype datatype_null, byte, packed;
    MPI_Op op_null;
    MPI_Errhandler errhandler_null, errors_are_fatal, errors_return;
    MPI_Info info_null;
    MPI_Win win_null;
    MPI_File file_null;
};

extern struct shim_handles shim_handles;

/** Fill shim_handles. Called by shim_gate_resolve only; a missing handle ends the
 *  process with one line and exit status 1. */
void shim_handles_resolve(void);

/**
 * The handle behind a data symbol of Open MPI, for example "ompi_mpi_op_sum" or
 * "ompi_mpi_int": the program's own copy if it has one, as programs compare with that.
 *
 * @return NULL  this library has no such handle
 */
void *shim_handle_find(const char *name);

#pragma GCC visibility pop

#endif
