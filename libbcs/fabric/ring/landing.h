/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A landing ring: where the data of short messages lie that come from another node with
 * their sends, in blocks, one behind the other. Its writer puts the data, then the send
 * that names the block, and its reader's desk marks the block as busy when it takes the
 * send; who has the data marks it as empty, and blocks are given back in their order. A
 * position counts all bytes that were ever used; a block that would go beyond the end
 * of the ring begins at its start.
 *
 * Invariant: the writer's position minus what it knows to be free is never more than
 * the ring's size. So no block is written that may still be read.
 */
#ifndef LIBBCS_FABRIC_RING_LANDING_H
#define LIBBCS_FABRIC_RING_LANDING_H

#include <stddef.h>

#include "libbcs/fabric/ring/port.h"

/** Bytes of a block with its header, in whole cache lines. */
static inline uint32_t bcs_landing_bytes(uint32_t n_bytes)
{
    uint32_t n = (uint32_t)offsetof(struct bcs_block, data) + n_bytes;

    return (n + BCS_CACHE_LINE - 1) & ~(uint32_t)(BCS_CACHE_LINE - 1);
}

/** Where the next block begins: at a position, or at the next start of the ring. */
static inline uint32_t bcs_landing_begin(uint32_t position, uint32_t n_bytes,
                                         uint32_t n_ring_bytes)
{
    uint32_t n_left = n_ring_bytes - (position & (n_ring_bytes - 1));

    return bcs_landing_bytes(n_bytes) <= n_left ? position : position + n_left;
}

/** Where a block ends that was put behind a position, at a place in the ring. */
static inline uint32_t bcs_landing_end(uint32_t position, uint32_t place,
                                       uint32_t n_bytes, uint32_t n_ring_bytes)
{
    return position + ((place - position) & (n_ring_bytes - 1)) +
           bcs_landing_bytes(n_bytes);
}

#endif
