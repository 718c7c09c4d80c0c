/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a desk keeps for each of its ports, and a node for each other node: tables in
 * NIC memory behind struct nic_desk and struct nic_node, as long as the job wants them.
 * Under their lock, but for global words and what is atomic.
 *
 * A job may have many nodes, of which one meets a few. So what is kept of a partner
 * stands in a region of its own (region.h), which is touched when the partner is met,
 * and is zero at first. The tables have a byte and some bits of each.
 */
#ifndef NIC_THREADS_NODE_TABLES_H
#define NIC_THREADS_NODE_TABLES_H

#include <bcs/primitives.h>
#include <stdbool.h>

#include "nic_threads/node/marks.h"
#include "nic_threads/rules/match.h"

/** Descriptors for one reader that found no room; see outbox.h. All zero: none. */
struct nic_outbox {
    uint32_t first, last; /* 1 + number of an item */
};

/** Who has begun to put something here: a byte that is not 0. All global. */
struct nic_announced {
    uint8_t *each;   /* by number */
    uint8_t *groups; /* one for each NIC_ANNOUNCED_GROUP of them */
};

enum { NIC_ANNOUNCED_GROUP = 64 };

/** What a node keeps of another one: the ends of the two wires that join them. */
struct nic_wire_end {
    _Alignas(sizeof(struct bcs_event)) struct bcs_event
        arrived;      /* global: entries that have come */
    uint64_t credit;  /* global: entries sent that the other node has read */
    uint64_t n_taken; /* of those that have come: read */
    uint64_t n_sent;
    struct nic_outbox outbox; /* entries to send that found no room */
    bool is_held; /* the next one is a send that was left as the node is full; a hint */
};

/** What a desk keeps for each of its ports, by number on the desk, and of the ports of
 *  its node; places in a process's view. Bits are for ports, 64 a word. */
struct nic_per_port {
    struct nic_match *match;
    uint64_t *touched;         /* bits: ports whose rings have entries in the batch */
    struct nic_list *deferred; /* timed: cells to complete at the next strobe */
    uint64_t *has_deferred;    /* bits: ports that have some */
    /* Links to the desk that are in use. Set by a port of the node before it publishes
     * the link's first entry, both seq_cst, so who sees the entry is told by it; for
     * writers on other nodes by the holder of the lock. */
    struct nic_marks writers;
    /* Between nodes: */
    /* of 2 n_off_node links, by their writers elsewhere */
    struct nic_announced announced;
    struct nic_marks waiting; /* of n_off_node: ports whose outboxes hold something */
};

/** Where the short messages of one port of another node lie: blocks, in their order, as
 *  they were taken; each knows the next one, and where it ends. */
struct nic_landing {
    uint64_t first_gva, last_gva; /* 0: none */
    uint32_t taken;               /* position up to which they go, */
    uint32_t freed;               /* up to which all is free again, */
    uint32_t told;                /* and up to which the writer knows it */
};

/** A desk's own link to the desk of a port on another node; see link.h. */
struct nic_link_end {
    uint32_t position; /* of the next entry */
    uint32_t is_announced;
    struct nic_outbox outbox; /* entries that found no room */
};

/** What a desk keeps of a port on another node. */
struct nic_partner {
    _Alignas(BCS_CACHE_LINE) struct nic_landing landing; /* by what it writes, */
    struct nic_link_end link;                            /* and reads */
};

/** What a node keeps for other nodes, and for pairs of its ports. */
struct nic_per_node {
    struct nic_announced announced; /* of n_nodes wires, by their writers */
    struct nic_marks senders;       /* wires to here that are in use */
    struct nic_marks taken;   /* of these: entries were read, and not given back */
    struct nic_marks waiting; /* nodes whose outboxes hold something */
    /* [node_ranks] times bits: ports between which direct copies were refused, in
     * whatever direction. Relaxed: whoever has not seen it is refused, too. */
    _Atomic uint64_t *apart;
};

/**
 * The tables of a desk of so many ports, with so many links, and so many ports that may
 * be on other nodes, from an address on. At the same global addresses in all heaps.
 *
 * @param begin  a multiple of BCS_CACHE_LINE; NULL to learn how much room they take
 * @return how many bytes they take
 */
size_t nic_per_port_place(void *begin, uint32_t n_ports, uint32_t n_links,
                          uint32_t n_off_node, struct nic_per_port *per_port_out);

/** The same for the tables of a node of so many ports in a job of so many nodes. */
size_t nic_per_node_place(void *begin, uint32_t node_ranks, uint32_t n_nodes,
                          struct nic_per_node *per_node_out);

/** Words of bits for so many ports. */
static inline uint32_t nic_port_words(uint32_t n_ports)
{
    return (uint32_t)bcs_node_words(n_ports);
}

/** Set the bit of a local port. */
static inline void nic_mark(uint64_t *words, uint32_t local)
{
    bcs_node_mark(words, local);
}

#endif
