/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arrays or the end of the job. Any rank may call it at any time.
 */
#include "apps/sage/memory.h"

#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define EXIT_NO_MEMORY 2

void memory_init(void)
{
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, -1); /* never */
}

void *memory_array(size_t n, size_t element_bytes)
{
    void *array = calloc(n > 0 ? n : 1, element_bytes);
    int rank;

    if (array == NULL) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        fprintf(
            stderr,
            "sage: rank %d: no memory for %zu elements of %zu bytes; allowed: fewer "
            "cells or levels, or more ranks on more machines\n",
            rank, n, element_bytes);
        fflush(stderr);
        MPI_Abort(MPI_COMM_WORLD, EXIT_NO_MEMORY);
    }
    return array;
}
