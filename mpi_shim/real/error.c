/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Raising MPI errors, and MPI_Abort. What ends the job is announced first, in one write
 * that names the rank, since the launcher's own text comes late and may lack it.
 */
#include "mpi_shim/real/error.h"

#include <bcs/status.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mpi_shim/real/handles.h"
#include "mpi_shim/real/real.h"

int shim_class_of_status(int status)
{
    if (__builtin_expect(status == 0, 1)) {
        return MPI_SUCCESS;
    }
    if (status == BCS_E_TRUNCATED) {
        return MPI_ERR_TRUNCATE;
    }
    if (status == BCS_E_DISAGREED) {
        return MPI_ERR_OTHER;
    }
    return status == -ENOMEM ? MPI_ERR_NO_MEM : MPI_ERR_INTERN;
}

int shim_world_rank(void)
{
    int is_initialized = 0, is_finalized = 0, rank = -1;

    shim_real.Initialized(&is_initialized);
    shim_real.Finalized(&is_finalized);
    if (is_initialized && !is_finalized) {
        shim_real.Comm_rank(shim_handles.comm_world, &rank);
    }
    return rank;
}

/* Print "bcs: rank 3 <text>" in one write; works whatever state stdio is in. */
static void shim_error_announce(int rank, const char *text)
{
    char line[MPI_MAX_ERROR_STRING + MPI_MAX_OBJECT_NAME + 80];
    int length;

    if (rank >= 0) {
        length = snprintf(line, sizeof(line), "bcs: rank %d %s\n", rank, text);
    } else {
        length =
            snprintf(line, sizeof(line), "bcs: process %d %s\n", (int)getpid(), text);
    }
    if (length >= (int)sizeof(line)) {
        length = sizeof(line) - 1;
    }
    if (write(STDERR_FILENO, line, (size_t)length) < 0) {
        return; /* nobody listens: the exit status must do */
    }
}

/* The communicator's name, or "comm" if it has none. */
static void shim_comm_name(MPI_Comm comm, char name_out[MPI_MAX_OBJECT_NAME])
{
    int length = 0;

    if (comm == NULL || comm == shim_handles.comm_null ||
        shim_real.Comm_get_name(comm, name_out, &length) != MPI_SUCCESS ||
        length == 0) {
        strcpy(name_out, "comm");
    }
}

static bool shim_error_is_fatal(MPI_Comm comm)
{
    MPI_Errhandler handler;
    bool is_fatal;

    if (shim_real.Comm_get_errhandler(comm, &handler) != MPI_SUCCESS) {
        return false;
    }
    is_fatal = handler == shim_handles.errors_are_fatal;
    shim_real.Errhandler_free(&handler);
    return is_fatal;
}

int shim_error(MPI_Comm comm, int error_class)
{
    char name[MPI_MAX_OBJECT_NAME], reason[MPI_MAX_ERROR_STRING] = "";
    char text[MPI_MAX_ERROR_STRING + MPI_MAX_OBJECT_NAME + 32];
    int length;

    if (error_class == MPI_SUCCESS) {
        return MPI_SUCCESS;
    }
    if (comm == NULL || comm == shim_handles.comm_null) {
        comm = shim_handles.comm_world;
    }
    if (shim_error_is_fatal(comm)) {
        shim_comm_name(comm, name);
        shim_real.Error_string(error_class, reason, &length);
        snprintf(text, sizeof(text), "fatal error on %s: %s", name, reason);
        shim_error_announce(shim_world_rank(), text);
    }
    shim_real.Comm_call_errhandler(comm, error_class);
    return error_class;
}

int shim_error_abort(MPI_Comm comm, int code)
{
    char name[MPI_MAX_OBJECT_NAME], text[MPI_MAX_OBJECT_NAME + 64];
    int rank = shim_world_rank();

    strcpy(name, "comm");
    if (rank >= 0) {
        shim_comm_name(comm, name);
    }
    snprintf(text, sizeof(text), "called MPI_Abort(%s, %d)", name, code);
    shim_error_announce(rank, text);
    return shim_real.Abort(comm, code);
}
