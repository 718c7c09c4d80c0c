/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ring of descriptors in NIC memory, zero at first: one process writes it, or one
 * after the other, and whoever has the lock that goes with it reads it.
 *
 * Invariant: the writer writes entry p (mod the ring's size, a power of two) only while
 * p - consumed is less than that size, and publishes it by storing turn = p + 1; the
 * reader reads entry p only after it has seen turn == p + 1, and never after it has
 * stored consumed > p.
 *
 * Between two nodes the writer cannot store: it puts the entry as one block, whose last
 * word is the entry's flag and is written last, and `consumed` is a word on the
 * writer's node, its credit, which the reader puts now and then. A send with a few
 * bytes is put into the second line of its entry alone, and the flag says so: its
 * reader makes an entry of it in place, which nobody else looks at.
 */
#ifndef LIBBCS_FABRIC_RING_RING_H
#define LIBBCS_FABRIC_RING_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "libbcs/fabric/base/prefetch.h"
#include "libbcs/fabric/ring/descriptor.h"

/** A ring; its size is known to those who use it. The first line is written by readers
 *  only. */
struct bcs_ring {
    _Alignas(
        BCS_CACHE_LINE) _Atomic uint32_t consumed; /* entries that were given back */
    uint32_t head; /* the next entry to read; others may look at it, too */
    bool is_held;  /* that is a send that stays here, as there are so many; a hint */
    _Alignas(BCS_CACHE_LINE) struct bcs_descriptor entries[];
};

/** What the reader of a ring on another node has put to its writer's: one word. */
typedef _Atomic uint64_t bcs_credit;

/** The word: consumed, as in struct bcs_ring, but later, and where the part of the
 *  landing ring ends that is free again. */
static inline uint64_t bcs_credit_make(uint32_t consumed, uint32_t freed)
{
    return (uint64_t)freed << 32 | consumed;
}

/** Both of it. acquire: pairs with the transport's store, so that what it gives back
 *  has been read. @param freed_out may be NULL @return consumed */
static inline uint32_t bcs_credit_read(const bcs_credit *credit, uint32_t *freed_out)
{
    uint64_t word = atomic_load_explicit(credit, memory_order_acquire);

    if (freed_out != NULL) {
        *freed_out = (uint32_t)(word >> 32);
    }
    return (uint32_t)word;
}

/** Payload within an entry that is put: the last word of the entry is its flag. */
enum { BCS_PUT_INLINE_BYTES = BCS_INLINE_BYTES - sizeof(uint64_t) };

/** Payload that goes with a send in one line; before its flag there are the first ones
 *  of an entry. */
enum {
    BCS_PUT_SHORT_BYTES = 8,
    BCS_PUT_SHORT_USED = BCS_CACHE_LINE - sizeof(uint64_t)
};

_Static_assert(offsetof(struct bcs_descriptor, payload) + BCS_PUT_SHORT_BYTES ==
                   BCS_PUT_SHORT_USED,
               "one line, with the flag");

/** In a flag, beside the position: it is of one line. */
#define BCS_PUT_SHORT (UINT64_C(1) << 63)

/** The writer's private view. */
struct bcs_ring_writer {
    /* Where it fills its entries: in the ring, or, to be put, one place of its own. */
    struct bcs_descriptor *entries;
    const _Atomic uint32_t *consumed; /* of the ring; NULL: there is */
    const bcs_credit *credit;         /* one for it here */
    uint32_t entry_mask;              /* of the number of an entry there */
    uint32_t mask;                    /* the ring's size - 1 */
    uint32_t position;                /* of the next entry */
    uint32_t consumed_seen;           /* last value read of consumed */
    uint32_t reader; /* the desk that reads it, of those of all nodes */
    uint32_t put_to; /* 1 + the port that it is read for, on another node; or 0 */
};

/** Bytes of a ring of so many entries. */
static inline size_t bcs_ring_bytes(uint32_t n_entries)
{
    return sizeof(struct bcs_ring) + n_entries * sizeof(struct bcs_descriptor);
}

/** The writer of a ring on its own node, from its first entry on. */
static inline struct bcs_ring_writer bcs_ring_writer_of(struct bcs_ring *ring,
                                                        uint32_t mask, uint32_t reader)
{
    return (struct bcs_ring_writer){
        .entries = ring->entries,
        .consumed = &ring->consumed,
        .entry_mask = mask,
        .mask = mask,
        .reader = reader,
    };
}

/** How many entries the reader is known to have given back. acquire: pairs with
 *  bcs_ring_give_back, or as bcs_credit_read. */
static inline uint32_t bcs_ring_consumed(const struct bcs_ring_writer *writer)
{
    return __builtin_expect(writer->consumed != NULL, 1)
               ? atomic_load_explicit(writer->consumed, memory_order_acquire)
               : bcs_credit_read(writer->credit, NULL);
}

/** The next entry to fill, or NULL while the ring is full (drive the engine, retry). */
static inline struct bcs_descriptor *bcs_ring_next(struct bcs_ring_writer *writer)
{
    if (writer->position - writer->consumed_seen > writer->mask) {
        writer->consumed_seen = bcs_ring_consumed(writer);
        if (writer->position - writer->consumed_seen > writer->mask) {
            return NULL;
        }
    }
    return &writer->entries[writer->position & writer->entry_mask];
}

/** What stands in place of a cell in the entry that bcs_ring_next has returned. */
static inline uint32_t bcs_ring_mark(const struct bcs_ring_writer *writer)
{
    return BCS_CELL_MARK | writer->position;
}

/* So many entries ahead of its writer an entry is asked for. */
enum { BCS_RING_AHEAD = 6 };

/**
 * Ask for the line of an entry that comes later, by a writer that writes one entry
 * after another. The reader's core has the line, as it has read the entry that was
 * there before. Where the cores are apart, to wait for the line takes longer than all
 * the rest of a short message. A reader that waits for the entry already would lose the
 * line, so who writes a single entry does not ask.
 */
static inline void bcs_ring_ask_ahead(const struct bcs_ring_writer *writer)
{
    bcs_prefetch_to_write(
        &writer->entries[(writer->position + BCS_RING_AHEAD) & writer->entry_mask]);
}

/** Whether the reader has given back all entries before a position, a recent one, of a
 *  ring on this node: what it has made of them can be seen. */
static inline bool bcs_ring_is_consumed(const struct bcs_ring_writer *writer,
                                        uint32_t position)
{
    return (int32_t)(bcs_ring_consumed(writer) - position) >= 0;
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

/** The word by which an entry that was put says that it is whole. */
static inline uint64_t *bcs_ring_flag(const struct bcs_descriptor *entry)
{
    return (uint64_t *)(void *)((char *)entry + sizeof(*entry) - sizeof(uint64_t));
}

/** Set the flag of an entry that is to be put. @return how many of its bytes are put,
 *  to the end of its place in the ring */
static inline size_t bcs_ring_set_flag(struct bcs_descriptor *entry, uint32_t position)
{
    uint64_t flag = (uint64_t)position + 1;

    if (entry->kind == BCS_SEND && entry->flags == BCS_DATA_INLINE &&
        entry->n_bytes <= BCS_PUT_SHORT_BYTES) {
        flag |= BCS_PUT_SHORT;
        memcpy((char *)entry + BCS_PUT_SHORT_USED, &flag, sizeof(flag));
        return BCS_CACHE_LINE;
    }
    *bcs_ring_flag(entry) = flag;
    return sizeof(*entry);
}

/** Whether an entry is there that was put by another node; also without the lock. */
static inline bool bcs_ring_has_put(const struct bcs_ring *ring, uint32_t mask,
                                    uint32_t position)
{
    /* acquire: pairs with the transport's store of the last word */
    uint64_t flag = __atomic_load_n(bcs_ring_flag(&ring->entries[position & mask]),
                                    __ATOMIC_ACQUIRE);

    return (flag & ~BCS_PUT_SHORT) == (uint64_t)position + 1;
}

/** The same as bcs_ring_entry of a ring that is written from another node. For its
 *  reader. */
static inline const struct bcs_descriptor *
bcs_ring_put_entry(struct bcs_ring *ring, uint32_t mask, uint32_t position)
{
    struct bcs_descriptor *entry = &ring->entries[position & mask];

    if (!bcs_ring_has_put(ring, mask, position)) {
        return NULL;
    }
    if ((*bcs_ring_flag(entry) & BCS_PUT_SHORT) != 0) {
        memcpy(entry, (char *)entry + BCS_CACHE_LINE, BCS_PUT_SHORT_USED);
    }
    return entry;
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

/** Give all entries back that have been read. @return the position up to which they had
 *  been before */
static inline uint32_t bcs_ring_give_back(struct bcs_ring *ring)
{
    /* relaxed: only readers write it, and they have the lock */
    uint32_t before = atomic_load_explicit(&ring->consumed, memory_order_relaxed);

    /* release: pairs with the acquire in bcs_ring_next */
    atomic_store_explicit(&ring->consumed, ring->head, memory_order_release);
    return before;
}

#endif
