/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the tables stand: one behind the other, each in cache lines of its own.
 */
#include "nic_threads/node/tables.h"

#include "libbcs/fabric/base/align.h"

/** Take the next bytes. */
static void *take(uintptr_t *next, size_t n, size_t n_bytes)
{
    uintptr_t place = *next;

    *next += bcs_align_up(n * n_bytes, BCS_CACHE_LINE);
    return (void *)place;
}

size_t nic_per_port_place(void *begin, uint32_t n_ports, uint32_t n_links,
                          uint32_t n_far, struct nic_per_port *per_port_out)
{
    size_t n_words = nic_port_words(n_ports);
    struct nic_per_port tables;
    uintptr_t next = (uintptr_t)begin;

    tables.writers = take(&next, nic_port_words(n_links), sizeof(tables.writers[0]));
    tables.touched = take(&next, n_words, sizeof(tables.touched[0]));
    tables.has_deferred = take(&next, n_words, sizeof(tables.has_deferred[0]));
    tables.match = take(&next, n_ports, sizeof(tables.match[0]));
    tables.deferred = take(&next, n_ports, sizeof(tables.deferred[0]));
    tables.announced = take(&next, 2 * (size_t)n_far, sizeof(tables.announced[0]));
    tables.landings = take(&next, n_far, sizeof(tables.landings[0]));
    tables.link_ends = take(&next, n_far, sizeof(tables.link_ends[0]));
    *per_port_out = tables;
    return (size_t)(next - (uintptr_t)begin);
}

size_t nic_per_node_place(void *begin, uint32_t node_ranks, uint32_t n_nodes,
                          struct nic_per_node *per_node_out)
{
    struct nic_per_node tables;
    uintptr_t next = (uintptr_t)begin;

    tables.ends = take(&next, n_nodes, sizeof(tables.ends[0]));
    tables.demand = take(&next, n_nodes, sizeof(tables.demand[0]));
    tables.apart = take(&next, (size_t)node_ranks * nic_port_words(node_ranks),
                        sizeof(tables.apart[0]));
    *per_node_out = tables;
    return (size_t)(next - (uintptr_t)begin);
}
