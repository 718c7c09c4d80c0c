/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the bytes of a message lie in memory if they do not follow one another: nested
 * loops over blocks. The MPI shim makes one for each datatype with gaps; whoever copies
 * the data of a message moves any range of them by it. Pure; any thread.
 *
 * The bytes have an order, in which they are packed: position 0 is the first byte of
 * the first element. Parts stand in that order, whatever their addresses.
 */
#ifndef LIBBCS_FABRIC_BASE_LAYOUT_H
#define LIBBCS_FABRIC_BASE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** count copies of a body, stride bytes apart. A body is one block of bytes, or
 *  parts. */
struct bcs_layout_part {
    ptrdiff_t offset; /* of the first copy, from where the body around it starts */
    ptrdiff_t stride;
    size_t count;
    size_t size;      /* bytes of data of one copy */
    size_t position;  /* of the first copy's data among those of the body around it */
    uint32_t first;   /* the body: parts[first] and on, */
    uint32_t n_parts; /* so many; 0: one block */
};

/** A layout: any number of elements from an address on. Made by layout_build.h. */
struct bcs_layout {
    struct bcs_layout_part elements; /* count is not used */
    struct bcs_layout_part parts[];
};

/** Whether the data are one block, however many elements there are. */
static inline bool bcs_layout_is_block(const struct bcs_layout *layout)
{
    return layout->elements.n_parts == 0 &&
           layout->elements.stride == (ptrdiff_t)layout->elements.size;
}

/**
 * Copy a range of the data of the elements at memory to contiguous bytes.
 *
 * @param from     position of the first byte of the range
 * @param n_bytes  length of the range, and of out
 */
void bcs_layout_pack(const struct bcs_layout *layout, const void *memory, size_t from,
                     size_t n_bytes, void *out);

/** Copy contiguous bytes to a range of the data of the elements at memory; the gaps
 *  stay as they are. */
void bcs_layout_unpack(const struct bcs_layout *layout, const void *in, size_t from,
                       size_t n_bytes, void *memory);

#endif
