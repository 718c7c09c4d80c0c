/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which port each rank of a job has. A rank is a process's number in the program. A
 * port is a process's place: the ports of a node follow each other, and so do the nodes
 * of a machine. Ranks are dealt to machines by the launcher, in any order. Made once by
 * each process while the processes meet, from the same input, and only read afterwards.
 *
 * Port p belongs to node p / node_ranks. A machine whose ranks do not fill its last
 * node leaves holes: ports of no rank, behind its last one. Nobody may wait for a hole,
 * wake it, or count it.
 */
#ifndef LIBBCS_FABRIC_RING_PORT_MAP_H
#define LIBBCS_FABRIC_RING_PORT_MAP_H

#include <stdbool.h>
#include <stdint.h>

/** The rank of a hole. */
#define BCS_PORT_HOLE UINT32_MAX

/** Nodes that follow each other. */
struct bcs_node_range {
    uint32_t first, n;
};

/** A job's ranks and their ports. */
struct bcs_port_map {
    uint32_t n_ranks;
    uint32_t n_ports;    /* with holes; the last port is a rank's */
    uint32_t node_ranks; /* ports of each node */
    uint32_t n_nodes;
    uint32_t n_machines;    /* those that have ranks */
    bool is_identity;       /* each rank is its own port */
    uint32_t *ports;        /* [n_ranks] by rank */
    uint32_t *ranks;        /* [n_ports] by port: the rank, or BCS_PORT_HOLE */
    uint32_t *n_local;      /* [n_nodes] ranks of each node */
    uint32_t *machine_ends; /* [n_machines] the node behind the last of each machine */
};

/** What a map is made from. */
struct bcs_port_plan {
    uint32_t n_ranks;         /* of the job; at least 1 */
    const uint32_t *machines; /* [n_ranks] a number less than n_ranks for the machine
                                 of each rank; NULL: all are on one machine */
    uint32_t node_ranks;      /* ranks of a node at most; 0: all of a machine */
    /* The ranks of each machine get its ports in falling order; for tests. */
    bool is_falling;
};

/**
 * Make a map. Machines come in the order of their numbers; the ranks of a machine get
 * its ports in their order.
 *
 * @return 0 or -ENOMEM; end with bcs_port_map_destroy
 */
int bcs_port_map_create(const struct bcs_port_plan *plan,
                        struct bcs_port_map **map_out);

/** Free a map. Accepts NULL. */
void bcs_port_map_destroy(struct bcs_port_map *map);

/** The nodes of the machine that a node is on. */
struct bcs_node_range bcs_port_map_near(const struct bcs_port_map *map, uint32_t node);

/** The port of a rank. */
static inline uint32_t bcs_port_of(const struct bcs_port_map *map, uint32_t rank)
{
    return map->ports[rank];
}

/** The rank of a port that is no hole. */
static inline uint32_t bcs_rank_of(const struct bcs_port_map *map, uint32_t port)
{
    return map->ranks[port];
}

/** The node of a rank. */
static inline uint32_t bcs_node_of_rank(const struct bcs_port_map *map, uint32_t rank)
{
    return map->ports[rank] / map->node_ranks;
}

/** The rank of the first port of a node, which is no hole. */
static inline uint32_t bcs_first_rank_of(const struct bcs_port_map *map, uint32_t node)
{
    return map->ranks[node * map->node_ranks];
}

#endif
