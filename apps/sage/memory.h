/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory for arrays. The mesh grows while the program runs, so a rank may run out of
 * memory alone: it then says so and ends the job.
 */
#ifndef SAGE_MEMORY_H
#define SAGE_MEMORY_H

#include <stddef.h>

/**
 * Keep what is freed for the arrays that follow. Each cycle allocates arrays of
 * megabytes; if they went back to the kernel, a page fault for each of their pages
 * would be part of the solve time, and of its noise. Call it before the first array.
 */
void memory_init(void);

/**
 * Allocate an array of zeros; the caller frees it with free().
 *
 * @return the array, never NULL: without memory one line is printed and the job ends
 *         with status 2
 */
void *memory_array(size_t n, size_t element_bytes);

#endif
