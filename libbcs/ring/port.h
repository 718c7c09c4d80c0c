/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port: one process's ring of descriptors, completion cells and eager blocks in its
 * node's NIC memory, and the owning process's private view of them. The owner posts and
 * allocates; the engine (whoever holds the desk's lock) consumes and completes. All
 * functions here are called by the owner only, one thread at a time.
 */
#ifndef BCS_RING_PORT_H
#define BCS_RING_PORT_H

#include <stdbool.h>

#include "libbcs/base/limits.h"
#include "libbcs/ring/descriptor.h"
#include "libbcs/ring/order_table.h"
#include "libbcs/ring/region.h"
#include "libbcs/ring/ring.h"

enum { BCS_BLOCK_CLASSES = 5 };

/** Largest payload of each class of blocks; the last one is for parts of long messages, so
 *  that these go on however many short ones wait for their receivers. */
#define BCS_BLOCK_CLASS_BYTES                                                          \
    {                                                                                  \
        512, 2048, 8192, 65536, 65536                                                  \
    }
enum { BCS_CHUNK_BLOCK_BYTES = 65536 };

struct bcs_port {
    _Alignas(BCS_CACHE_LINE) _Atomic uint32_t park; /* see sleep.h */
    uint32_t rank;
    int64_t pid;
    /* Threads that copy for all were refused to copy into or out of the owner's memory, for
     * good. Relaxed: whoever has not seen it is refused, too. */
    _Atomic uint32_t is_closed;
    /* Orders to the owner so far, in the order table. Apart from what changes with each
     * message, since the owner looks at it whenever it waits. */
    _Alignas(BCS_CACHE_LINE) _Atomic uint32_t n_orders;
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
 * Header of an eager block; the payload follows, a short one in the same cache line. It is
 * aligned as memory is that programs allocate, since some processors (AMD's Zen 3 and 4) copy
 * thirty times slower than usual to where the offset in a page is 1 to 15 bytes more than
 * the source's.
 */
struct bcs_block {
    _Alignas(BCS_CACHE_LINE) _Atomic uint32_t busy;
    uint32_t n_bytes; /* a stage block in the queue of an item: of its chunk, */
    uint64_t next;    /* and the next block, or 0; the engine's own */
    _Alignas(BCS_CACHE_LINE / 2) uint8_t data[];
};

/** One class of a port's eager blocks, as its owner sees it. */
struct bcs_block_pool {
    struct nic_region region;
    uint32_t n_blocks;  /* limit */
    uint32_t n_touched; /* blocks that were ever used: 0 .. n_touched - 1 */
    uint32_t cursor;    /* where the next search starts */
};

/** The owner's private view of its port. */
struct bcs_poster {
    char *heap; /* of the port's node: its first part, of whole_bytes */
    uint64_t whole_bytes;
    struct bcs_port *port;
    struct bcs_cell *cells; /* the first n_first_cells */
    uint32_t n_first_cells;
    struct bcs_order_table orders;
    uint32_t n_orders_seen; /* that the owner has taken notice of */
    struct bcs_ring_writer ring;
    uint32_t n_free_cells;
    uint32_t *free_cells; /* grows with n_cells_touched */
    uint32_t n_cells;     /* limit */
    uint32_t n_cells_touched;
    uint32_t n_cells_prepared; /* for which there is room in free_cells */
    struct nic_region cell_region;
    struct bcs_core *core; /* acting as the port's node */
    struct bcs_block_pool blocks[BCS_BLOCK_CLASSES];
};

struct nic_layout;

/**
 * Set up the owner's view of a port.
 *
 * @param core  acting as the port's node; must outlive the view
 */
void bcs_poster_init(struct bcs_poster *poster_out, struct bcs_core *core,
                     const struct nic_layout *layout, uint32_t port);

/** Free the private tables; accepts a zeroed poster. */
void bcs_poster_fini(struct bcs_poster *poster);

/** Allocate an eager block of at least n_bytes. @return its address, or 0: none free */
uint64_t bcs_poster_block(struct bcs_poster *poster, size_t n_bytes);

/** Allocate a block of BCS_CHUNK_BLOCK_BYTES for a part of a long message. @return its
 *  address, or 0: none free */
uint64_t bcs_poster_chunk_block(struct bcs_poster *poster);

/** Take a cell that has never been used, or BCS_CELL_NONE if all are pending or there is no
 *  memory. */
uint32_t bcs_poster_fresh_cell(struct bcs_poster *poster);

/**
 * Whether the engine has carried out all that the owner has posted and that takes messages out
 * of the port's queue: receives, claims and probes that take. Until it posts the next, the
 * queue only grows, and the owner may read it without a lock.
 */
bool bcs_poster_is_settled(const struct bcs_poster *poster);

/** The block at a global address of the port's node. */
static inline struct bcs_block *bcs_poster_block_at(const struct bcs_poster *poster,
                                                    uint64_t gva)
{
    return __builtin_expect(gva < poster->whole_bytes, 1)
               ? (struct bcs_block *)(poster->heap + gva)
               : bcs_core_address(poster->core, gva);
}

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

/** A cell of the owner's. */
static inline struct bcs_cell *bcs_poster_cell_at(const struct bcs_poster *poster,
                                                  uint32_t cell)
{
    return __builtin_expect(cell < poster->n_first_cells, 1)
               ? &poster->cells[cell]
               : nic_region_at(&poster->cell_region, poster->core, cell);
}

/** Allocate a cell in state PENDING of a new generation, or BCS_CELL_NONE. */
static inline uint32_t bcs_poster_cell(struct bcs_poster *poster)
{
    uint32_t id = poster->n_free_cells > 0 ? poster->free_cells[--poster->n_free_cells]
                                           : bcs_poster_fresh_cell(poster);
    if (id != BCS_CELL_NONE) {
        struct bcs_cell *cell = bcs_poster_cell_at(poster, id);
        uint32_t generation =
            atomic_load_explicit(&cell->state, memory_order_relaxed) >>
            BCS_CELL_STATE_BITS;
        /* relaxed: published with the descriptor that names the cell */
        atomic_store_explicit(
            &cell->state, (generation + 1) << BCS_CELL_STATE_BITS | BCS_CELL_PENDING,
            memory_order_relaxed);
    }
    return id;
}

/** How many cells can be allocated. */
static inline uint32_t bcs_poster_n_available(const struct bcs_poster *poster)
{
    return poster->n_free_cells + poster->n_cells - poster->n_cells_touched;
}

/** Give a cell back once its operation is complete and nobody else refers to it. */
static inline void bcs_poster_free_cell(struct bcs_poster *poster, uint32_t id)
{
    poster->free_cells[poster->n_free_cells++] = id;
}

/** The state of a cell without its generation. acquire: pairs with bcs_cell_complete. */
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
