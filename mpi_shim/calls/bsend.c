/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Buffer_attach and MPI_Buffer_detach. Runs in the application's threads.
 */
#include <mpi.h>

#include "mpi_shim/calls/mpi_calls.h"
#include "mpi_shim/real/error.h"
#include "mpi_shim/real/real.h"
#include "mpi_shim/request/request.h"

int shim_Buffer_attach(void *buffer, int size)
{
    if (buffer == NULL || size < 0) {
        return shim_real.Buffer_attach(buffer, size);
    }
    return shim_bsend_attach(&shim_state.arena->space, buffer, (size_t)size)
               ? MPI_SUCCESS
               : shim_error(NULL, MPI_ERR_BUFFER);
}

int shim_Buffer_detach(void *buffer, int *size)
{
    struct shim_bsend_space *space = &shim_state.arena->space;

    if (buffer == NULL || size == NULL) {
        return shim_error(NULL, MPI_ERR_ARG);
    }
    if (space->base == NULL) {
        return shim_error(NULL, MPI_ERR_BUFFER);
    }
    shim_enter();
    shim_request_drain();
    shim_leave();
    *(void **)buffer = space->base;
    *size = (int)space->n_bytes;
    shim_bsend_detach(space);
    return MPI_SUCCESS;
}
