/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines of near collectives in NIC memory, zero at first: what each member of a group says, and
 * others read (libbcs/api/near_collective.c). They stand in blocks of up to limits.near members,
 * the blocks of a collective slot in levels: after those of the members themselves those of the
 * first members of these blocks, up to a level that is one block.
 */
#ifndef BCS_RING_NEAR_LINE_H
#define BCS_RING_NEAR_LINE_H

#include <stdatomic.h>
#include <stdint.h>

#include "libbcs/base/limits.h"
#include "libbcs/ring/descriptor.h"

enum { BCS_NEAR_TURNS = 2 }; /* collectives whose lines stand apart */

/** What a member says, for itself or for all below it, or the group to its members. */
struct bcs_near_said {
    uint64_t terms;
    uint8_t payload[BCS_INLINE_BYTES];
};

/** A line: two cache lines, of which the second is for long operands only. */
struct bcs_near_line {
    /* of the last collective with this line; publishes the rest */
    _Alignas(BCS_CACHE_LINE) _Atomic uint64_t number;
    struct bcs_near_said said;
};

_Static_assert(sizeof(struct bcs_near_line) == 2 * BCS_CACHE_LINE, "two cache lines");

/** A block: the lines of its members, and that of the first of them for the others. */
struct bcs_near_block {
    struct bcs_near_line arrivals[BCS_NEAR_TURNS][BCS_NEAR_MOST];
    struct bcs_near_line release[BCS_NEAR_TURNS];
};

/** Blocks that n members, or blocks of the level below, are in. */
static inline uint32_t bcs_near_n_blocks(uint32_t n, uint32_t near)
{
    return (n - 1) / near + 1;
}

/** Blocks of all levels, for n members. */
static inline uint32_t bcs_near_n_blocks_in_all(uint32_t n, uint32_t near)
{
    uint32_t n_blocks = 0;

    do {
        n = bcs_near_n_blocks(n, near);
        n_blocks += n;
    } while (n > 1);
    return n_blocks;
}

#endif
