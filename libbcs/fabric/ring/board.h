/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a machine's segment says of the job to whoever looks at it from outside
 * (apps/tools/look): above all where its NIC memory is. It stands behind the state of
 * the machine, in the same segment; the sign at its begin (sign.h) says where. Set
 * while processes attach, each its own part; never changed.
 */
#ifndef LIBBCS_FABRIC_RING_BOARD_H
#define LIBBCS_FABRIC_RING_BOARD_H

#include <bcs/primitives.h>
#include <stdatomic.h>
#include <stdint.h>

#include "libbcs/fabric/ring/nic_memory.h"

/** Bits of a desk's lock that are no port. */
#define BCS_BOARD_LOCK_FLAGS (UINT32_C(1) << 31)

/** The heap of a node. */
struct bcs_board_node {
    struct bcs_memory_address memory;
    _Atomic uint64_t is_ready; /* release, when memory is there */
};

/** The job. */
struct bcs_board {
    struct nic_shape shape; /* from which the layout of the heaps is found */
    uint32_t n_nodes;
    uint32_t first_near, n_near; /* nodes of this machine: only they are below */
    uint32_t is_linked;          /* whether each process writes to links of its own */
    /* Where in a desk's state its lock stands, a uint32_t: 0, or 1 + the port that
     * holds it, and perhaps BCS_BOARD_LOCK_FLAGS; and the number of its slices, a
     * uint64_t. */
    uint32_t lock_offset, slice_offset;
    char driver[16]; /* its name, ended by a zero */
    char strobe[16];
    uint64_t began_ns; /* CLOCK_MONOTONIC */
    uint32_t n_ranks;  /* processes of the job */
    uint32_t has_map;  /* 1: the port of each rank stands behind the nodes */
    struct bcs_board_node nodes[];
};

/** Bytes of a board. @param n_mapped  ranks whose ports it has */
static inline uint64_t bcs_board_bytes(uint32_t n_nodes, uint32_t n_mapped)
{
    return sizeof(struct bcs_board) + n_nodes * sizeof(struct bcs_board_node) +
           n_mapped * sizeof(uint32_t);
}

/** The ports of a board that has them, [n_ranks] by rank. */
static inline uint32_t *bcs_board_ports(struct bcs_board *board, uint32_t n_nodes)
{
    return (uint32_t *)(void *)&board->nodes[n_nodes];
}

/** A number for how all that is looked at is laid out in this version. */
uint64_t bcs_board_layout(void);

#endif
