/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables in NIC memory that grow with use: elements of one size, by number. The first
 * ones are in the part of a heap that is mapped from the start; each of the others has
 * its place in a region of the heap, within one window of it, which a process maps when
 * it first looks there. Numbers, and so global addresses, never change; the places of
 * the first ones in the region stay empty. Any process and thread.
 */
#ifndef LIBBCS_FABRIC_RING_REGION_H
#define LIBBCS_FABRIC_RING_REGION_H

#include <bcs/primitives.h>
#include <stdint.h>

/** Where the elements of a table are, in a node's heap. */
struct nic_region {
    uint64_t first_gva; /* of element 0, if n_first is not 0 */
    uint64_t gva;       /* of the region for the others: the start of a window */
    uint32_t n_first;
    uint32_t stride_bytes;
    uint32_t window_shift; /* a window has 2^window_shift bytes */
    uint32_t shift;        /* and 2^shift elements */
};

/** The global address of an element. */
static inline uint64_t nic_region_gva(const struct nic_region *region, uint64_t number)
{
    if (number < region->n_first) {
        return region->first_gva + number * region->stride_bytes;
    }
    return region->gva + (number >> region->shift << region->window_shift) +
           (number & ((UINT64_C(1) << region->shift) - 1)) * region->stride_bytes;
}

/** The element in the heap of the node that core acts as. */
__attribute__((cold)) void *nic_region_at(const struct nic_region *region,
                                          const struct bcs_core *core, uint32_t number);

#endif
