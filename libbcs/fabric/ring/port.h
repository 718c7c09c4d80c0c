/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port: one process's ring of descriptors, completion cells and eager blocks in its
 * node's NIC memory, as all see them who map it. The owner posts and allocates, by its
 * private view of them (poster.h); the engine (whoever holds the desk's lock) consumes
 * and completes.
 */
#ifndef LIBBCS_FABRIC_RING_PORT_H
#define LIBBCS_FABRIC_RING_PORT_H

#include <bcs/primitives.h>
#include <stdatomic.h>
#include <stdint.h>

#include "libbcs/fabric/base/limits.h"
#include "libbcs/fabric/ring/descriptor.h"
#include "libbcs/fabric/ring/ring.h"

enum { BCS_BLOCK_CLASSES = 5 };

/** Largest payload of each class of blocks; the last one is for parts of long messages,
 *  so that these go on however many short ones wait for their receivers. */
#define BCS_BLOCK_CLASS_BYTES                                                          \
    {                                                                                  \
        512, 2048, 8192, 65536, 65536                                                  \
    }
enum { BCS_CHUNK_BLOCK_BYTES = 65536 };

/** What came of a send that the owner of a port wanted back from a far node; see
 *  nic_threads/roles/far_recall.c. */
struct bcs_recalled {
    uint64_t block_gva; /* the owner's again, or 0 */
    uint64_t outcome;   /* the last word that is put */
};

struct bcs_port {
    _Alignas(BCS_CACHE_LINE) _Atomic uint32_t park; /* see sleep.h */
    /* While slices are recorded: the owner waits, and is awake. Relaxed: for counting
     * only. */
    _Atomic uint32_t is_polling;
    uint32_t rank;
    int64_t pid;
    /* Threads that copy for all were refused to copy into or out of the owner's memory,
     * for good. Relaxed: whoever has not seen it is refused, too. */
    _Atomic uint32_t is_closed;
    /* Orders to the owner so far, in the order table. Apart from what changes with each
     * message, since the owner looks at it whenever it waits. */
    _Alignas(BCS_CACHE_LINE) _Atomic uint32_t n_orders;
    /* local one of the owner's long puts */
    _Alignas(sizeof(struct bcs_event)) struct bcs_event long_puts;
    struct bcs_recalled recalled; /* global */
};

/** Bytes from a port to its first cell: the port and its ring. */
#define BCS_PORT_BYTES                                                                 \
    (sizeof(struct bcs_port) + sizeof(struct bcs_ring) +                               \
     BCS_RING_MOST * sizeof(struct bcs_descriptor))

/** A port's ring follows it in memory. */
static inline struct bcs_ring *bcs_port_ring(struct bcs_port *port)
{
    return (struct bcs_ring *)(port + 1);
}

/**
 * Header of an eager block; the payload follows, a short one in the same cache line. It
 * is aligned as memory is that programs allocate, since some processors (AMD's Zen 3
 * and 4) copy thirty times slower than usual to where the offset in a page is 1 to 15
 * bytes more than the source's.
 */
struct bcs_block {
    _Alignas(BCS_CACHE_LINE) _Atomic uint32_t busy;
    uint32_t n_bytes; /* a stage block in the queue of an item: of its chunk, */
    uint64_t next;    /* and the next block, or 0; the engine's own */
    _Alignas(BCS_CACHE_LINE / 2) uint8_t data[];
};

/** Give a block back to its owner. Any process may call it, once a block. The release
 *  pairs with the acquire in bcs_poster_block. */
static inline void bcs_block_free(struct bcs_block *block)
{
    atomic_store_explicit(&block->busy, 0, memory_order_release);
}

/** One of the first cells of a port: they follow its ring in memory. */
static inline struct bcs_cell *bcs_port_cell(struct bcs_port *port, uint32_t cell)
{
    return (struct bcs_cell *)((char *)port + BCS_PORT_BYTES) + cell;
}

/** The state of a cell without its generation. acquire: pairs with
 *  bcs_cell_complete. */
static inline enum bcs_cell_state bcs_cell_state(const struct bcs_cell *cell)
{
    return (enum bcs_cell_state)(
        atomic_load_explicit(&cell->state, memory_order_acquire) & BCS_CELL_STATE_MASK);
}

/** Change the state of a cell, keeping its generation; publishes the cell's fields. */
static inline void bcs_cell_complete(struct bcs_cell *cell, enum bcs_cell_state state)
{
    uint32_t old = atomic_load_explicit(&cell->state, memory_order_relaxed);

    atomic_store_explicit(&cell->state, (old & ~(uint32_t)BCS_CELL_STATE_MASK) | state,
                          memory_order_release);
}

#endif
