/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The space of buffered sends. Runs in the application's threads.
 */
#include "mpi_shim/request/bsend_space.h"

#include <mpi.h>

bool shim_bsend_attach(struct shim_bsend_space *space, void *buffer, size_t n_bytes)
{
    if (space->base != NULL) {
        return false;
    }
    space->base = buffer;
    space->n_bytes = n_bytes;
    return true;
}

void shim_bsend_detach(struct shim_bsend_space *space)
{
    space->base = NULL;
}

bool shim_bsend_reserve(struct shim_bsend_space *space, size_t n_bytes)
{
    size_t needed = n_bytes + MPI_BSEND_OVERHEAD;

    if (space->base == NULL || space->used_bytes + needed > space->n_bytes) {
        return false;
    }
    space->used_bytes += needed;
    return true;
}

void shim_bsend_release(struct shim_bsend_space *space, size_t n_bytes)
{
    space->used_bytes -= n_bytes + MPI_BSEND_OVERHEAD;
}
