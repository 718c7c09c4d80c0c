/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where everything is in NIC memory. Each node has a heap, which the transport has
 * made. In each stand, at the same global addresses, the node's engine state, its
 * items, its wires from other nodes and its ports. What is in a heap names other things
 * of it by global address, and what is in another one by node and global address. The
 * layout is a pure function of the job's shape, so that every process computes the same
 * one.
 *
 * The first part of a heap, which every process maps from the start, has the node's
 * state, the ports with their rings, and the first elements of each table. The tables
 * go on behind it, each in a region of its own that is as large as it may ever become:
 * that costs address space where a process looks at it, and memory where it has been
 * touched (region.h). What grows with the nodes of the job stands in such regions, so
 * that the first part does not: of each other node and port it has some bytes.
 */
#ifndef LIBBCS_FABRIC_RING_NIC_MEMORY_H
#define LIBBCS_FABRIC_RING_NIC_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libbcs/fabric/base/limits.h"
#include "libbcs/fabric/ring/port.h"
#include "libbcs/fabric/ring/region.h"

/** The most that the blocks of a class of one port may take. Where programs rely on
 *  buffering, with messages that MPI libraries buffer, as much as there may be memory;
 *  else a bound on how far a sender can run ahead. */
#define NIC_BLOCK_CLASS_REGION_BYTES                                                   \
    {                                                                                  \
        UINT64_C(4) << 30, UINT64_C(8) << 30, UINT64_C(16) << 30, 32 << 20, 32 << 20   \
    }

enum {
    NIC_NODES_MOST = 1 << 16, /* of a job */
    NIC_NODE_RANKS_MOST = 1 << 16,
    NIC_CELLS_MOST = 1 << 23,
    NIC_ITEMS_MOST = 1 << 30, /* of a desk; what its memory has room for ends before */
    NIC_KEPT_SENDS_MOST = NIC_ITEMS_MOST / 2,
    NIC_SENDS_A_CELL = 4, /* sends without a receive that a desk keeps for a cell */
    NIC_SLOT_BITS = 28,   /* of the number of a collective slot */
    NIC_GROUPS_MOST = 1 << 20, /* that a port can lead */
};

/** What the layout depends on; equal in all processes of the job. */
struct nic_shape {
    /* Ports of the job: its processes, and holes (port_map.h) */
    uint32_t n_ports;
    uint32_t node_ranks; /* ports of a node; the last node may have fewer */
    uint32_t desk_ranks; /* of a desk: node_ranks, or 1 */
    /* 1: each process writes to rings of its own at each other one's desk; then
     * desk_ranks is
     * 1. No bool: who looks at a job has it from the memory of a foreign process. */
    uint8_t has_links;
    uint32_t n_cells;          /* completion cells a port (BCS_DESCRIPTORS) */
    uint32_t n_groups;         /* collective slots a port leads (BCS_COMMUNICATORS) */
    size_t n_node_bytes;       /* of the engine's own state of a node, */
    size_t n_desk_bytes;       /* and of a desk */
    uint32_t n_item_bytes;     /* of struct nic_item */
    uint32_t n_wire_bytes;     /* of one wire entry */
    uint32_t n_slot_bytes;     /* of one collective slot */
    uint32_t n_partner_bytes;  /* of what a desk keeps of a port on another node, */
    uint32_t n_wire_end_bytes; /* and a node of another one */
    uint32_t n_spans; /* of a series of what was recorded, in each of two halves; 0:
                         none is */
    struct bcs_limits limits;
};

/** Offsets within each node's heap (equal on all nodes). */
struct nic_layout {
    struct nic_shape shape;
    uint32_t n_nodes;
    /* Of a node. Where there are links and several nodes, the last one is the node's
     * own: it serves no port, but the collectives of all nodes. */
    uint32_t n_desks;
    uint64_t heap_bytes;
    uint64_t whole_bytes; /* the first part */
    uint64_t node_gva;    /* on pages of its own, as each desk */
    uint64_t desk_gva;    /* of the first desk, and from one desk to the next: */
    uint64_t desk_stride_bytes;
    uint64_t desk_later_stride_bytes; /* from one desk's region to the next one's */
    uint32_t n_items;                 /* of a desk */
    uint32_t send_limit;              /* sends without a receive that a desk keeps */
    struct nic_region items; /* n_items, of the first desk; see nic_layout_items */
    /* n_off_node, of the first desk; see nic_layout_partners */
    struct nic_region partners;
    struct nic_region slots; /* n_ports * n_groups collective slots */
    /* n_near blocks of bcs_near_block for each of them; none where ports share a
     * desk */
    struct nic_region near;
    uint32_t n_near;
    struct nic_region wires;     /* n_nodes rings of limits.wire entries */
    struct nic_region wire_ends; /* n_nodes, by the other node */
    /* limits.stage_blocks chunk blocks for each node, or, with links, each port of the
     * node */
    struct nic_region stages;
    struct nic_region node_links; /* to the node's own desk, by who writes: its ports */
    /* Spans: two halves of n_spans for each desk, and then for the strobe sender. */
    struct nic_region spans;
    struct nic_region stands; /* where its ports stand, struct bcs_stands each */
    /* Of several nodes: what node 0 knows of ports on other machines, struct
     * bcs_far_stand each. */
    struct nic_region far_stands;
    uint64_t port_gva; /* of the first parts of ports: */
    uint64_t port_stride_bytes;
    uint64_t port_later_stride_bytes; /* from one port's region to the next port's */
    /* Of local port 0; see nic_layout_of_port. */
    struct nic_region cells; /* its first part stands right behind struct bcs_port */
    /* n_links rings of limits.link entries, by who writes: the ports of the job, and,
     * if there are several nodes, after them the desks of these ports. None where ports
     * share a desk. */
    struct nic_region links;
    uint32_t n_links;
    uint32_t n_off_node; /* ports that may be on other nodes: those of the job, or 0 */
    struct nic_region credits; /* n_links of bcs_credit, for this port's links */
    /* n_off_node rings of limits.landing bytes, by who writes */
    struct nic_region landings;
    uint64_t order_gva;
    struct nic_region blocks[BCS_BLOCK_CLASSES];
    uint32_t n_blocks[BCS_BLOCK_CLASSES];
};

/**
 * Compute the layout of a job.
 *
 * @return 0        computed
 * @return -EINVAL no ports, or more than NIC_NODE_RANKS_MOST on a node, or too many
 *                  nodes
 * @return -E2BIG   more than 2^NIC_SLOT_BITS collective slots
 */
int nic_layout_init(struct nic_layout *layout_out, const struct nic_shape *shape);

/** Nodes of a job, of node_ranks processes each, the last one perhaps of fewer. */
static inline uint32_t nic_layout_n_nodes(uint32_t n_ports, uint32_t node_ranks)
{
    return (n_ports - 1) / node_ranks + 1;
}

/** Ports that may be on other nodes than one that writes to their desks. */
static inline uint32_t nic_shape_n_off_node(const struct nic_shape *shape)
{
    return shape->has_links && shape->n_ports > shape->node_ranks ? shape->n_ports : 0;
}

/** Links to the desk of a port. */
static inline uint32_t nic_shape_n_links(const struct nic_shape *shape)
{
    return shape->has_links ? shape->n_ports + nic_shape_n_off_node(shape) : 0;
}

/** Node of a port: ports are dealt to nodes in order, node_ranks to each. */
static inline uint32_t nic_layout_node(const struct nic_layout *layout, uint32_t port)
{
    return port / layout->shape.node_ranks;
}

/** Whether each node has a desk of its own besides its ports'. */
static inline bool nic_layout_has_node_desks(const struct nic_layout *layout)
{
    return layout->n_off_node > 0;
}

/** Desk of a node, where its collectives are counted. */
static inline uint32_t nic_layout_node_desk(const struct nic_layout *layout,
                                            uint32_t node)
{
    uint32_t last = nic_layout_has_node_desks(layout) ? layout->n_desks - 1 : 0;

    return node * layout->n_desks + last;
}

/** Desk of a port: the desks of all nodes are numbered in order. */
static inline uint32_t nic_layout_desk(const struct nic_layout *layout, uint32_t port)
{
    return nic_layout_node(layout, port) * layout->n_desks +
           port % layout->shape.node_ranks / layout->shape.desk_ranks;
}

/** Global address of the state of the desk of a port, in the heap of its node. */
static inline uint64_t nic_layout_desk_gva(const struct nic_layout *layout,
                                           uint32_t port)
{
    return layout->desk_gva + port % layout->shape.node_ranks /
                                  layout->shape.desk_ranks * layout->desk_stride_bytes;
}

/** A table of a desk, by its number on its node, from that of the first one. */
static inline struct nic_region nic_layout_of_desk(const struct nic_layout *layout,
                                                   const struct nic_region *of_first,
                                                   uint32_t desk)
{
    struct nic_region region = *of_first;

    region.first_gva += desk * layout->desk_stride_bytes;
    region.gva += desk * layout->desk_later_stride_bytes;
    return region;
}

/** The items of a desk. */
static inline struct nic_region nic_layout_items(const struct nic_layout *layout,
                                                 uint32_t desk)
{
    return nic_layout_of_desk(layout, &layout->items, desk);
}

/** What a desk keeps of the ports on other nodes. */
static inline struct nic_region nic_layout_partners(const struct nic_layout *layout,
                                                    uint32_t desk)
{
    return nic_layout_of_desk(layout, &layout->partners, desk);
}

/** Number of ports of a node, its holes among them. */
uint32_t nic_layout_n_local(const struct nic_layout *layout, uint32_t node);

/** Global address of a port, in the heap of its node. */
static inline uint64_t nic_layout_port_gva(const struct nic_layout *layout,
                                           uint32_t port)
{
    return layout->port_gva +
           (port % layout->shape.node_ranks) * layout->port_stride_bytes;
}

/** A table of a port, from that of local port 0. */
static inline struct nic_region nic_layout_of_port(const struct nic_layout *layout,
                                                   const struct nic_region *of_first,
                                                   uint32_t port)
{
    uint32_t local = port % layout->shape.node_ranks;
    struct nic_region region = *of_first;

    region.first_gva += local * layout->port_stride_bytes;
    region.gva += local * layout->port_later_stride_bytes;
    return region;
}

/** Number, among the links to a port's desk, of that of what is posted by a port, and
 *  of that of the desk of the port. */
static inline uint32_t nic_layout_link_of(const struct nic_layout *layout,
                                          uint32_t port, bool is_desk)
{
    return is_desk ? layout->n_off_node + port : port;
}

/** Global address of a link to a port's desk, in the heap of its node. */
static inline uint64_t nic_layout_link_gva(const struct nic_layout *layout,
                                           uint32_t port, uint32_t link)
{
    const struct nic_region links = nic_layout_of_port(layout, &layout->links, port);

    return nic_region_gva(&links, link);
}

/** Global address of the landing ring at a port for another one, in the heap of its
 *  node. */
static inline uint64_t nic_layout_landing_gva(const struct nic_layout *layout,
                                              uint32_t port, uint32_t writer)
{
    const struct nic_region landings =
        nic_layout_of_port(layout, &layout->landings, port);

    return nic_region_gva(&landings, writer);
}

/** Global address of the credit for a link, by its number, to another port. */
static inline uint64_t nic_layout_credit_gva(const struct nic_layout *layout,
                                             uint32_t writer, uint32_t link)
{
    const struct nic_region credits =
        nic_layout_of_port(layout, &layout->credits, writer);

    return nic_region_gva(&credits, link);
}

/** Global address of where a port stands, in the heap of its node. */
static inline uint64_t nic_layout_stands_gva(const struct nic_layout *layout,
                                             uint32_t port)
{
    return nic_region_gva(&layout->stands, port % layout->shape.node_ranks);
}

/** Global address of what node 0 knows of a port on another machine, in its heap. */
static inline uint64_t nic_layout_far_stand_gva(const struct nic_layout *layout,
                                                uint32_t port)
{
    return nic_region_gva(&layout->far_stands, port);
}

/** Global address of a port's order table, in the heap of its node. */
static inline uint64_t nic_layout_order_gva(const struct nic_layout *layout,
                                            uint32_t port)
{
    return nic_layout_port_gva(layout, port) + layout->order_gva - layout->port_gva;
}

/** Global address of a port's cell, in the heap of its node. */
static inline uint64_t nic_layout_cell_gva(const struct nic_layout *layout,
                                           uint32_t port, uint32_t cell)
{
    const struct nic_region cells = nic_layout_of_port(layout, &layout->cells, port);

    return nic_region_gva(&cells, cell);
}

#endif
