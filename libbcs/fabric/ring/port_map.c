/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes the map of ranks and ports; see port_map.h. Ranks are sorted by the numbers of
 * their machines by counting, so that a map of many ranks takes two passes over them.
 */
#include "libbcs/fabric/ring/port_map.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

/** A map that is being made. */
struct making {
    const struct bcs_port_plan *plan;
    struct bcs_port_map *map;
    uint32_t *counts; /* [n_ranks] by machine number: its ranks, then its next port */
};

static uint32_t machine_of(const struct bcs_port_plan *plan, uint32_t rank)
{
    return plan->machines == NULL ? 0 : plan->machines[rank];
}

/** Nodes that hold so many ranks. */
static uint32_t n_nodes_for(const struct bcs_port_map *map, uint32_t n_ranks)
{
    return (n_ranks - 1) / map->node_ranks + 1;
}

/** Count the ranks of each machine, and find how many ports a node has. */
static void count(struct making *making)
{
    const struct bcs_port_plan *plan = making->plan;
    struct bcs_port_map *map = making->map;
    uint32_t most = 0;

    for (uint32_t rank = 0; rank < plan->n_ranks; rank++) {
        uint32_t *n = &making->counts[machine_of(plan, rank)];

        most = ++*n > most ? *n : most;
    }
    map->node_ranks =
        plan->node_ranks > 0 && plan->node_ranks < most ? plan->node_ranks : most;
    for (uint32_t i = 0; i < plan->n_ranks; i++) {
        if (making->counts[i] > 0) {
            map->n_machines++;
            map->n_nodes += n_nodes_for(map, making->counts[i]);
        }
    }
}

/** Give nodes and ports to the machines. From then on counts has the next port of each
 *  machine: its first one, or, if ranks fall, its last one. */
static void place_machines(struct making *making)
{
    struct bcs_port_map *map = making->map;
    uint32_t node = 0, machine = 0;

    for (uint32_t i = 0; i < map->n_ranks; i++) {
        uint32_t n = making->counts[i], first = node * map->node_ranks;

        if (n == 0) {
            continue;
        }
        making->counts[i] = making->plan->is_falling ? first + n - 1 : first;
        map->n_ports = first + n;
        for (uint32_t rest = n; rest > 0; rest -= map->n_local[node++]) {
            map->n_local[node] = rest < map->node_ranks ? rest : map->node_ranks;
        }
        map->machine_ends[machine++] = node;
    }
}

/** Give each rank the next port of its machine. */
static void place_ranks(struct making *making)
{
    struct bcs_port_map *map = making->map;

    for (uint32_t port = 0; port < map->n_nodes * map->node_ranks; port++) {
        map->ranks[port] = BCS_PORT_HOLE;
    }
    map->is_identity = true;
    for (uint32_t rank = 0; rank < map->n_ranks; rank++) {
        uint32_t *next = &making->counts[machine_of(making->plan, rank)];
        uint32_t port = making->plan->is_falling ? (*next)-- : (*next)++;

        map->ports[rank] = port;
        map->ranks[port] = rank;
        map->is_identity &= port == rank;
    }
}

int bcs_port_map_create(const struct bcs_port_plan *plan, struct bcs_port_map **map_out)
{
    struct bcs_port_map *map = calloc(1, sizeof(*map));
    struct making making = {
        .plan = plan,
        .map = map,
        .counts = calloc(plan->n_ranks, sizeof(*making.counts)),
    };

    if (map == NULL || making.counts == NULL) {
        goto fail;
    }
    map->n_ranks = plan->n_ranks;
    count(&making);
    assert((uint64_t)map->n_nodes * map->node_ranks < BCS_PORT_HOLE);
    map->ports = calloc(map->n_ranks, sizeof(*map->ports));
    map->ranks = calloc((size_t)map->n_nodes * map->node_ranks, sizeof(*map->ranks));
    map->n_local = calloc(map->n_nodes, sizeof(*map->n_local));
    map->machine_ends = calloc(map->n_machines, sizeof(*map->machine_ends));
    if (map->ports == NULL || map->ranks == NULL || map->n_local == NULL ||
        map->machine_ends == NULL) {
        goto fail;
    }
    place_machines(&making);
    place_ranks(&making);
    free(making.counts);
    *map_out = map;
    return 0;

fail:
    free(making.counts);
    bcs_port_map_destroy(map);
    return -ENOMEM;
}

void bcs_port_map_destroy(struct bcs_port_map *map)
{
    if (map == NULL) {
        return;
    }
    free(map->ports);
    free(map->ranks);
    free(map->n_local);
    free(map->machine_ends);
    free(map);
}

struct bcs_node_range bcs_port_map_near(const struct bcs_port_map *map, uint32_t node)
{
    uint32_t machine = 0, first;

    while (map->machine_ends[machine] <= node) {
        machine++;
    }
    first = machine == 0 ? 0 : map->machine_ends[machine - 1];
    return (struct bcs_node_range){first, map->machine_ends[machine] - first};
}
