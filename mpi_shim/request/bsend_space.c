/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The space of buffered sends. Runs in the application's threads.
 */
#include "mpi_shim/request/bsend_space.h"

#include <mpi.h>

static struct {
    void *base; /* NULL: none is attached */
    size_t n_bytes;
    size_t used_bytes;
} space;

bool shim_bsend_attach(void *buffer, size_t n_bytes)
{
    if (space.base != NULL) {
        return false;
    }
    space.base = buffer;
    space.n_bytes = n_bytes;
    return true;
}

void *shim_bsend_buffer(size_t *n_bytes_out)
{
    *n_bytes_out = space.n_bytes;
    return space.base;
}

void shim_bsend_detach(void)
{
    space.base = NULL;
}

bool shim_bsend_reserve(size_t n_bytes)
{
    size_t needed = n_bytes + MPI_BSEND_OVERHEAD;

    if (space.base == NULL || space.used_bytes + needed > space.n_bytes) {
        return false;
    }
    space.used_bytes += needed;
    return true;
}

void shim_bsend_release(size_t n_bytes)
{
    space.used_bytes -= n_bytes + MPI_BSEND_OVERHEAD;
}
