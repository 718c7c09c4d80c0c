/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arrays or the end of the job. Any rank may call it at any time.
 */
#include "apps/sage/memory.h"

#include <malloc.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define EXIT_NO_MEMORY 2

#define HUGE_PAGE_BYTES ((size_t)2 << 20)

void memory_init(void)
{
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, -1); /* never */
}

/** Zeros in huge pages, where the kernel has some: of the pages that lie in the array,
 *  which is not aligned to them, as arrays at the same offset would take the same cache
 *  lines. */
static void *huge_array(size_t n_bytes)
{
    char *array = malloc(n_bytes);
    uintptr_t begin, end;

    if (array != NULL) {
        begin = ((uintptr_t)array + HUGE_PAGE_BYTES - 1) & ~(HUGE_PAGE_BYTES - 1);
        end = ((uintptr_t)array + n_bytes) & ~(HUGE_PAGE_BYTES - 1);
        if (begin < end) {
            madvise((void *)begin, end - begin, MADV_HUGEPAGE);
        }
        memset(array, 0, n_bytes);
    }
    return array;
}

static void *zeros(size_t n, size_t element_bytes)
{
    size_t n_bytes = n * element_bytes;

    if (n_bytes < HUGE_PAGE_BYTES || n_bytes / element_bytes != n) {
        return calloc(n > 0 ? n : 1, element_bytes);
    }
    return huge_array(n_bytes);
}

void *memory_array(size_t n, size_t element_bytes)
{
    void *array = zeros(n, element_bytes);
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
