/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bytes that the buffers of one operation describe, gaps left out, in their order:
 * their hash, a copy of the first of them, and whether two have bytes in common. Pure
 * but for the memory that it reads. Used by buffers.c.
 */
#ifndef SHIM_BUFFER_REGION_H
#define SHIM_BUFFER_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi_shim/data/datatype.h"

#pragma GCC visibility push(hidden)

enum {
    SHIM_REGION_KEPT = 65536, /* bytes that are copied */
    SHIM_REGION_BLOCKS_MOST =
        65536, /* of which it is looked whether others have them */
};

/** Elements of a type. */
struct shim_piece {
    const char *buf;
    size_t count;
    const struct shim_datatype *type;
};

struct shim_region {
    struct shim_piece *pieces; /* [n]; for free */
    size_t n;
    size_t n_bytes;
    uint64_t hash;
    char *copy; /* of the first bytes; NULL: no memory */
};

/** Keep what the pieces hold. */
void shim_region_keep(struct shim_region *region);

/** Whether they still hold it. @param at_out the first byte that they do not; SIZE_MAX:
 *  one behind the copy */
bool shim_region_is_same(const struct shim_region *region, size_t *at_out);

/** Whether two have a byte in common; false, too, if it takes too many blocks to
 *  tell. */
bool shim_region_overlap(const struct shim_region *a, const struct shim_region *b);

/** Forget it. */
void shim_region_fini(struct shim_region *region);

#pragma GCC visibility pop

#endif
