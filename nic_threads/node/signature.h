/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the members of a collective must agree on, its signature, and what they are told
 * if they do not. agreement.c in nic_threads/roles compares signatures; the API of the
 * members says who called what.
 */
#ifndef NIC_THREADS_NODE_SIGNATURE_H
#define NIC_THREADS_NODE_SIGNATURE_H

#include "nic_threads/node/node.h"

/* The signature as one word: operation, root, length. It leaves eight bits for the
 * number of the collective. Where members differ in the length alone it has a length
 * that there is not, else a kind that there is not. */
#define NIC_SIGNATURE_BITS 56
#define NIC_SIGNATURE_LENGTH UINT64_C(0xff)
#define NIC_SIGNATURE_MIXED ((UINT64_C(1) << NIC_SIGNATURE_BITS) - 1)

_Static_assert(BCS_INLINE_BYTES < NIC_SIGNATURE_LENGTH, "a length that there is not");

/** A member's signature. */
static inline uint64_t nic_signature(const struct bcs_descriptor *descriptor)
{
    return (uint64_t)descriptor->operation << 40 |
           (uint64_t)(uint32_t)descriptor->tag << 8 | descriptor->n_bytes;
}

static inline uint16_t nic_signature_operation(uint64_t signature)
{
    return (uint16_t)(signature >> 40);
}

static inline int32_t nic_signature_root(uint64_t signature)
{
    return (int32_t)(uint32_t)(signature >> 8);
}

static inline uint32_t nic_signature_bytes(uint64_t signature)
{
    return (uint32_t)(signature & NIC_SIGNATURE_LENGTH);
}

/** Whether this is the signature of members that differ. */
static inline bool nic_signature_is_mixed(uint64_t signature)
{
    return (signature & NIC_SIGNATURE_LENGTH) == NIC_SIGNATURE_LENGTH;
}

/** The signature of members that differ. */
static inline uint64_t nic_signature_join(uint64_t a, uint64_t b)
{
    return (a ^ b) <= NIC_SIGNATURE_LENGTH ? a | NIC_SIGNATURE_LENGTH
                                           : NIC_SIGNATURE_MIXED;
}

/** Why a collective is refused: the master tells all nodes, and each node its members,
 *  in the payload of their completion cells. */
struct nic_refusal {
    uint64_t sequence;  /* of the collective */
    uint64_t signature; /* of one member, */
    int32_t rank;       /* which is this one */
    uint32_t
        node; /* where there is another one with another signature; only known there: */
    uint64_t other_signature;
    int32_t other_rank;
    uint32_t is_length_only;
};

_Static_assert(sizeof(struct nic_refusal) <= BCS_INLINE_BYTES, "fits a result");

/** Whether this process is the first to ask, of those of its node: it tells the user of
 *  the refusal. Any process; without the lock. */
static inline bool nic_refusal_is_first(struct nic_slot *slot,
                                        const struct nic_refusal *refusal)
{
    /* relaxed: it orders nothing else */
    return atomic_exchange_explicit(&slot->told, refusal->sequence,
                                    memory_order_relaxed) != refusal->sequence;
}

#endif
