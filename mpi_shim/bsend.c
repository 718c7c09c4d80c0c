/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Buffer_attach and MPI_Buffer_detach. The attached memory itself is not used: short
 * messages go to NIC memory at once, long ones to a copy of their own; but space is
 * accounted for as the standard says, so that a program that overruns its buffer finds
 * out. Runs in the application's threads.
 */
#include "mpi_shim/bsend.h"

#include <mpi.h>

#include "mpi_shim/error.h"
#include "mpi_shim/request.h"
#include "mpi_shim/symbols.h"

static struct {
    void *base;
    int n_bytes;
    size_t used_bytes;
    bool is_attached;
} space;

bool shim_bsend_reserve(size_t n_bytes)
{
    size_t needed = n_bytes + MPI_BSEND_OVERHEAD;

    if (space.is_attached && space.used_bytes + needed > (size_t)space.n_bytes) {
        shim_request_reap();
    }
    if (!space.is_attached || space.used_bytes + needed > (size_t)space.n_bytes) {
        return false;
    }
    space.used_bytes += needed;
    return true;
}

void shim_bsend_release(size_t n_bytes)
{
    space.used_bytes -= n_bytes + MPI_BSEND_OVERHEAD;
}

int shim_Buffer_attach(void *buffer, int size)
{
    if (buffer == NULL || size < 0) {
        return shim_real.Buffer_attach(buffer, size);
    }
    if (space.is_attached) {
        return shim_error(NULL, MPI_ERR_BUFFER);
    }
    space.base = buffer;
    space.n_bytes = size;
    space.is_attached = true;
    return MPI_SUCCESS;
}

int shim_Buffer_detach(void *buffer, int *size)
{
    if (buffer == NULL || size == NULL) {
        return shim_error(NULL, MPI_ERR_ARG);
    }
    if (!space.is_attached) {
        return shim_error(NULL, MPI_ERR_BUFFER);
    }
    shim_enter();
    shim_request_drain();
    shim_leave();
    *(void **)buffer = space.base;
    *size = space.n_bytes;
    space.is_attached = false;
    return MPI_SUCCESS;
}
