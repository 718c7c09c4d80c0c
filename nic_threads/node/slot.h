/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A collective slot: what a node keeps of one communicator for the collectives that the
 * engine carries out, and what others put there. Under the lock of the node's first
 * desk, but for global words.
 */
#ifndef NIC_THREADS_NODE_SLOT_H
#define NIC_THREADS_NODE_SLOT_H

#include <bcs/primitives.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "libbcs/fabric/ring/descriptor.h"

/** Who uses a slot. It is used again only after all collectives of its last group are
 *  over, and with a larger base, which numbers them. */
struct nic_group_members {
    uint64_t base;
    uint32_t n_members;
    uint32_t n_local; /* members on the opening process's node */
    uint32_t master;  /* the node of member 0, the master of all collectives */
    uint32_t first_node, n_nodes; /* the range of their nodes */
};

enum { NIC_PIECE_WORDS = 5 };

/** Payload of BCS_GROUP_OPEN: the members, and a piece of the marks of the nodes that
 *  have some: words from number `piece` * NIC_PIECE_WORDS on. Each local member posts
 *  all pieces before it takes part in a collective. */
struct nic_group_piece {
    struct nic_group_members members;
    uint32_t piece;
    uint64_t marks[NIC_PIECE_WORDS];
};

_Static_assert(sizeof(struct nic_group_piece) <= BCS_INLINE_BYTES, "fits a descriptor");

/** What the master of a collective broadcasts. */
struct nic_result {
    uint64_t sequence;
    uint64_t is_refused; /* the payload is a struct nic_refusal */
    uint64_t stamp;      /* where the job has stamps: the latest of all members */
    uint8_t payload[BCS_INLINE_BYTES];
};

/** One communicator's collectives, at the same address on all its nodes. */
struct nic_slot {
    /* Global words. */
    /* last collective begun by all local members */
    _Alignas(BCS_CACHE_LINE) uint64_t flag;
    uint64_t signature;       /* of that one; see agreement.h */
    struct nic_result result; /* last result, put by the master */
    /* This node's own. */
    uint64_t sequence;           /* of the collective that is being gathered, from 1 */
    uint64_t gathered_signature; /* of the local members that have arrived */
    bool is_refused;             /* at whoever carries it out: its members differ */
    _Atomic uint64_t told;       /* the last one that the user was told of as refused */
    uint32_t n_arrived;
    uint32_t first_item; /* descriptors of the local members, linked by next */
    /* At the master: 1 + first part that has come from other nodes; 0: none, as in a
     * slot that nobody here has opened yet. How many there are, and how many there must
     * be. */
    uint32_t parts;
    uint32_t n_parts;
    uint32_t n_parts_wanted;
    /* Where the job has stamps: the latest of the members, of other nodes at the master
     * only, and of how many of these there must be one there. */
    uint32_t n_stamps, n_stamps_wanted;
    uint64_t stamp;
    uint32_t next_active; /* slots whose local members have all arrived */
    struct nic_group_members members;
    uint64_t marks[]; /* of members.n_nodes nodes; there is room for all of the job */
};

/** The nodes of the members of a slot's group. */
static inline struct bcs_node_set nic_slot_nodes(const struct nic_slot *slot)
{
    struct bcs_node_set nodes = {slot->members.first_node, slot->members.n_nodes,
                                 slot->marks};

    return nodes;
}

#endif
