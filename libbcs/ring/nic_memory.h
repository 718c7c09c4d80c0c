/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where everything is in NIC memory. Each node has a heap, which the transport has made. In
 * each stand, at the same global addresses, the node's engine state, its items, its wires
 * from other nodes and its ports. What is in a heap names other things of it by global
 * address, and what is in another one by node and global address. The layout is a pure
 * function of the job's shape, so that every process computes the same one. Pages cost memory
 * only once touched.
 */
#ifndef BCS_RING_NIC_MEMORY_H
#define BCS_RING_NIC_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "libbcs/base/limits.h"

enum {
    NIC_BLOCK_CLASS_REGION_BYTES = 32 << 20, /* eager blocks of one class of one port */
    NIC_SENDS_A_CELL = 4, /* sends without a receive that a node keeps for a cell */
    NIC_SLOT_BITS = 28,   /* of the number of a collective slot */
    NIC_GROUPS_MOST = 1 << 20, /* that a port can lead */
};

/** What the layout depends on; equal in all processes of the job. */
struct nic_shape {
    uint32_t n_ports;      /* processes of the job */
    uint32_t node_ranks;   /* processes of a node; the last node may have fewer */
    uint32_t n_cells;      /* completion cells a port (BCS_DESCRIPTORS) */
    uint32_t n_groups;     /* collective slots a port leads (BCS_COMMUNICATORS) */
    uint32_t n_node_bytes; /* of struct nic_node, the engine's own state */
    uint32_t n_item_bytes; /* of struct nic_item */
    uint32_t n_wire_bytes; /* of one wire entry */
    uint32_t n_slot_bytes; /* of one collective slot's global words */
    struct bcs_limits limits;
};

/** Offsets within each node's heap (equal on all nodes). */
struct nic_layout {
    struct nic_shape shape;
    uint32_t n_nodes;
    uint64_t heap_bytes;
    uint64_t node_gva;
    uint64_t item_gva; /* n_items items */
    uint32_t n_items;
    uint32_t send_limit; /* sends without a receive that a node keeps */
    uint64_t slot_gva;   /* n_ports * n_groups collective slots */
    uint64_t wire_gva;   /* n_nodes rings of limits.wire entries */
    uint64_t stage_gva;  /* n_nodes * limits.stage_blocks chunk blocks */
    uint64_t stage_stride_bytes;
    uint64_t port_gva;
    uint64_t port_stride_bytes;
};

/**
 * Compute the layout of a job.
 *
 * @return 0        computed
 * @return -EINVAL  no ports, or more than BCS_MAX_PORTS_A_NODE on a node, or too many nodes
 * @return -E2BIG   more than 2^NIC_SLOT_BITS collective slots
 */
int nic_layout_init(struct nic_layout *layout_out, const struct nic_shape *shape);

/** Offset of the eager blocks from the start of a port with n_cells cells. */
uint64_t nic_port_blocks_offset(uint32_t n_cells);

/** Node of a port: ports are dealt to nodes in order, node_ranks to each. */
static inline uint32_t nic_layout_node(const struct nic_layout *layout, uint32_t port)
{
    return port / layout->shape.node_ranks;
}

/** Number of ports of a node. */
uint32_t nic_layout_n_local(const struct nic_layout *layout, uint32_t node);

/** Global address of a port, in the heap of its node. */
static inline uint64_t nic_layout_port_gva(const struct nic_layout *layout,
                                           uint32_t port)
{
    return layout->port_gva +
           (port % layout->shape.node_ranks) * layout->port_stride_bytes;
}

#endif
