/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all ranks do alike when they make something: take memory, and learn whether all
 * have it.
 */
#ifndef CHANNEL_AGREE_H
#define CHANNEL_AGREE_H

#include <mpi.h>
#include <stdlib.h>

/** Room for n elements, also of none. @return NULL: out of memory */
static inline void *agree_array(size_t n, size_t n_bytes)
{
    return calloc(n == 0 ? 1 : n, n_bytes);
}

/** The least result of all ranks of MPI_COMM_WORLD: that of a failure, if there is one.
 *  Collective. */
static inline int agree_least(int result)
{
    MPI_Allreduce(MPI_IN_PLACE, &result, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return result;
}

#endif
