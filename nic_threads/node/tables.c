/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a node's tables stand: one behind the other, each in cache lines of its own.
 */
#include "nic_threads/node/tables.h"

#include "libbcs/base/align.h"

/** Take the next bytes. */
static void *take(uintptr_t *next, size_t n, size_t n_bytes)
{
    uintptr_t place = *next;

    *next += bcs_align_up(n * n_bytes, BCS_CACHE_LINE);
    return (void *)place;
}

size_t nic_tables_place(void *begin, uint32_t node_ranks, uint32_t n_nodes,
                        struct nic_tables *tables_out)
{
    size_t n_words = nic_port_words(node_ranks);
    struct nic_tables tables;
    uintptr_t next = (uintptr_t)begin;

    tables.heads = take(&next, node_ranks, sizeof(tables.heads[0]));
    tables.is_held = take(&next, node_ranks, sizeof(tables.is_held[0]));
    tables.touched = take(&next, n_words, sizeof(tables.touched[0]));
    tables.has_deferred = take(&next, n_words, sizeof(tables.has_deferred[0]));
    tables.match = take(&next, node_ranks, sizeof(tables.match[0]));
    tables.deferred = take(&next, node_ranks, sizeof(tables.deferred[0]));
    tables.apart = take(&next, node_ranks * n_words, sizeof(tables.apart[0]));
    tables.ends = take(&next, n_nodes, sizeof(tables.ends[0]));
    tables.demand = take(&next, n_nodes, sizeof(tables.demand[0]));
    *tables_out = tables;
    return (size_t)(next - (uintptr_t)begin);
}
