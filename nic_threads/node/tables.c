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

static struct nic_marks take_marks(uintptr_t *next, uint32_t n)
{
    uint32_t n_words = nic_marks_words(n);
    struct nic_marks marks;

    marks.words = take(next, n_words, sizeof(marks.words[0]));
    marks.groups = take(next, nic_marks_words(n_words), sizeof(marks.groups[0]));
    return marks;
}

static struct nic_announced take_announced(uintptr_t *next, uint32_t n)
{
    struct nic_announced announced;

    announced.each = take(next, n, sizeof(announced.each[0]));
    announced.groups = take(next, (n + NIC_ANNOUNCED_GROUP - 1) / NIC_ANNOUNCED_GROUP,
                            sizeof(announced.groups[0]));
    return announced;
}

size_t nic_per_port_place(void *begin, uint32_t n_ports, uint32_t n_links,
                          uint32_t n_off_node, struct nic_per_port *per_port_out)
{
    size_t n_words = nic_port_words(n_ports);
    struct nic_per_port tables;
    uintptr_t next = (uintptr_t)begin;

    tables.writers = take_marks(&next, n_links);
    tables.touched = take(&next, n_words, sizeof(tables.touched[0]));
    tables.has_deferred = take(&next, n_words, sizeof(tables.has_deferred[0]));
    tables.match = take(&next, n_ports, sizeof(tables.match[0]));
    tables.deferred = take(&next, n_ports, sizeof(tables.deferred[0]));
    tables.announced = take_announced(&next, 2 * n_off_node);
    tables.waiting = take_marks(&next, n_off_node);
    *per_port_out = tables;
    return (size_t)(next - (uintptr_t)begin);
}

size_t nic_per_node_place(void *begin, uint32_t node_ranks, uint32_t n_nodes,
                          struct nic_per_node *per_node_out)
{
    struct nic_per_node tables;
    uintptr_t next = (uintptr_t)begin;

    tables.announced = take_announced(&next, n_nodes);
    tables.senders = take_marks(&next, n_nodes);
    tables.taken = take_marks(&next, n_nodes);
    tables.waiting = take_marks(&next, n_nodes);
    tables.apart = take(&next, (size_t)node_ranks * nic_port_words(node_ranks),
                        sizeof(tables.apart[0]));
    *per_node_out = tables;
    return (size_t)(next - (uintptr_t)begin);
}
