/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Buffer_attach and MPI_Buffer_detach. Runs in the application's threads.
 */
#include <mpi.h>

#include "mpi_shim/calls/calls.h"
#include "mpi_shim/real/error.h"
#include "mpi_shim/real/real.h"
#include "mpi_shim/request/bsend_space.h"
#include "mpi_shim/request/request.h"

int shim_Buffer_attach(void *buffer, int size)
{
    if (buffer == NULL || size < 0) {
        return shim_real.Buffer_attach(buffer, size);
    }
    return shim_bsend_attach(buffer, (size_t)size) ? MPI_SUCCESS
                                                   : shim_error(NULL, MPI_ERR_BUFFER);
}

int shim_Buffer_detach(void *buffer, int *size)
{
    size_t n_bytes;
    void *attached = shim_bsend_buffer(&n_bytes);

    if (buffer == NULL || size == NULL) {
        return shim_error(NULL, MPI_ERR_ARG);
    }
    if (attached == NULL) {
        return shim_error(NULL, MPI_ERR_BUFFER);
    }
    shim_enter();
    shim_request_drain();
    shim_leave();
    *(void **)buffer = attached;
    *size = (int)n_bytes;
    shim_bsend_detach();
    return MPI_SUCCESS;
}
