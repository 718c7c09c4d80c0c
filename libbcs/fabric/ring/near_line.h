/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines of near collectives in NIC memory, zero at first: what each member of a group
 * says, and others read (libbcs/api/collective/near_collective.c). They stand in blocks
 * of up to limits.near members, the blocks of a collective slot in levels: after those
 * of the members themselves those of the first members of these blocks, up to a level
 * that is one block. Those of the first level are smaller if fewer processes share a
 * cache.
 */
#ifndef LIBBCS_FABRIC_RING_NEAR_LINE_H
#define LIBBCS_FABRIC_RING_NEAR_LINE_H

#include <stdatomic.h>
#include <stdint.h>

#include "libbcs/fabric/base/limits.h"
#include "libbcs/fabric/ring/descriptor.h"

enum {
    BCS_NEAR_TURNS = 2, /* collectives whose lines stand apart */
    BCS_NEAR_FIRST_LEAST =
        4, /* members of a block of the first level, for its cache's sake */
};

/** What a member says, for itself or for all below it, or the group to its members. */
struct bcs_near_said {
    uint64_t signature;
    uint8_t payload[BCS_INLINE_BYTES];
    uint64_t stamp; /* where the job has stamps: the latest of those who say it */
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

/** Members of a block of the first level, where n_sharing that follow each other have a
 *  cache in common: the least, for which there is room, or more. */
static inline uint32_t bcs_near_first(const struct bcs_limits *limits,
                                      uint32_t n_sharing)
{
    return n_sharing < BCS_NEAR_FIRST_LEAST || n_sharing > limits->near ? limits->near
                                                                        : n_sharing;
}

/** Blocks that n members, or blocks of the level below, are in. */
static inline uint32_t bcs_near_n_blocks(uint32_t n, uint32_t near)
{
    return (n - 1) / near + 1;
}

/** Blocks of the first level that there is room for. */
static inline uint32_t bcs_near_n_first(const struct bcs_limits *limits, uint32_t n)
{
    return bcs_near_n_blocks(n, bcs_near_first(limits, BCS_NEAR_FIRST_LEAST));
}

/** Blocks of all levels that n members need. */
static inline uint32_t bcs_near_n_in_all(const struct bcs_limits *limits, uint32_t n)
{
    uint32_t n_blocks;

    n = bcs_near_n_first(limits, n);
    n_blocks = n;
    while (n > 1) {
        n = bcs_near_n_blocks(n, limits->near);
        n_blocks += n;
    }
    return n_blocks;
}

#endif
