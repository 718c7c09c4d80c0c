/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ring of descriptors in NIC memory, zero at first: one process writes it, and whoever has the
 * lock that goes with it reads it.
 *
 * Invariant: the writer writes entry p (mod the ring's size, a power of two) only while
 * p - consumed is less than that size, and publishes it by storing turn = p + 1; the reader reads
 * entry p only after it has seen turn == p + 1, and never after it has stored consumed > p.
 */
#ifndef BCS_RING_RING_H
#define BCS_RING_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libbcs/ring/descriptor.h"

/** A ring; its size is known to those who use it. The first line is written by readers only. */
struct bcs_ring {
    _Alignas(
        BCS_CACHE_LINE) _Atomic uint32_t consumed; /* entries that were given back */
    uint32_t head; /* the next entry to read; others may look at it, too */
    bool is_held;  /* that is a send that stays here, as there are so many; a hint */
    _Alignas(BCS_CACHE_LINE) struct bcs_descriptor entries[];
};

/** The writer's private view. */
struct bcs_ring_writer {
    struct bcs_ring *ring;
    uint32_t mask;          /* its size - 1 */
    uint32_t position;      /* of the next entry */
    uint32_t consumed_seen; /* last value read of consumed */
    uint32_t reader;        /* the port that it is read for, number in the job */
};

/** Bytes of a ring of so many entries. */
static inline size_t bcs_ring_bytes(uint32_t n_entries)
{
    return sizeof(struct bcs_ring) + n_entries * sizeof(struct bcs_descriptor);
}

/** The next entry to fill, or NULL while the ring is full (drive the engine, retry). */
static inline struct bcs_descriptor *bcs_ring_next(struct bcs_ring_writer *writer)
{
    if (writer->position - writer->consumed_seen > writer->mask) {
        /* acquire: pairs with bcs_ring_give_back */
        writer->consumed_seen =
            atomic_load_explicit(&writer->ring->consumed, memory_order_acquire);
        if (writer->position - writer->consumed_seen > writer->mask) {
            return NULL;
        }
    }
    return &writer->ring->entries[writer->position & writer->mask];
}

/** Whether the reader has given back all entries before a position, a recent one: what it has made
 *  of them can be seen. */
static inline bool bcs_ring_is_consumed(const struct bcs_ring_writer *writer,
                                        uint32_t position)
{
    /* acquire: pairs with bcs_ring_give_back */
    uint32_t consumed =
        atomic_load_explicit(&writer->ring->consumed, memory_order_acquire);

    return (int32_t)(consumed - position) >= 0;
}

/** Publish the entry that bcs_ring_next returned. seq_cst: see the parking argument in
 *  nic_threads/drivers/driver_inline.c; the load in bcs_ring_entry is the partner. */
static inline void bcs_ring_publish(struct bcs_ring_writer *writer,
                                    struct bcs_descriptor *entry)
{
    writer->position++;
    atomic_store_explicit(&entry->turn, writer->position, memory_order_seq_cst);
}

/** The entry at a position of a ring, or NULL if it has not been published. */
static inline const struct bcs_descriptor *
bcs_ring_entry(const struct bcs_ring *ring, uint32_t mask, uint32_t position)
{
    const struct bcs_descriptor *entry = &ring->entries[position & mask];

    /* acquire: pairs with bcs_ring_publish */
    return atomic_load_explicit(&entry->turn, memory_order_acquire) == position + 1
               ? entry
               : NULL;
}

/** The next entry to read. Also looked at without the lock. */
static inline uint32_t bcs_ring_head(const struct bcs_ring *ring)
{
    return __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
}

/** The entries before a position have been read. relaxed: others only look */
static inline void bcs_ring_set_head(struct bcs_ring *ring, uint32_t position)
{
    __atomic_store_n(&ring->head, position, __ATOMIC_RELAXED);
}

/** Give all entries back that have been read. @return the position up to which they had been
 *  before */
static inline uint32_t bcs_ring_give_back(struct bcs_ring *ring)
{
    /* relaxed: only readers write it, and they have the lock */
    uint32_t before = atomic_load_explicit(&ring->consumed, memory_order_relaxed);

    /* release: pairs with the acquire in bcs_ring_next */
    atomic_store_explicit(&ring->consumed, ring->head, memory_order_release);
    return before;
}

#endif
