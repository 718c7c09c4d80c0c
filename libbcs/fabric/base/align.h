/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lengths rounded up, so that what comes next is aligned. Pure.
 */
#ifndef LIBBCS_FABRIC_BASE_ALIGN_H
#define LIBBCS_FABRIC_BASE_ALIGN_H

#include <stdint.h>

enum { BCS_CACHE_LINE = 64 }; /* bytes */

/** The least multiple of an alignment, a power of two, that is n or more. */
static inline uint64_t bcs_align_up(uint64_t n, uint64_t alignment)
{
    return (n + alignment - 1) & ~(alignment - 1);
}

#endif
