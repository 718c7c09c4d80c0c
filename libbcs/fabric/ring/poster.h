/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The owning process's private view of its port: what it posts to, and which cells and
 * eager blocks it has given out. All functions here are called by the owner only, one
 * thread at a time.
 */
#ifndef LIBBCS_FABRIC_RING_POSTER_H
#define LIBBCS_FABRIC_RING_POSTER_H

#include <stdbool.h>

#include "libbcs/fabric/ring/nic_memory.h"
#include "libbcs/fabric/ring/order_table.h"
#include "libbcs/fabric/ring/port.h"
#include "libbcs/fabric/ring/region.h"

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

/**
 * Set up the owner's view of a port.
 *
 * @param core  acting as the port's node; must outlive the view
 */
void bcs_poster_init(struct bcs_poster *poster_out, struct bcs_core *core,
                     const struct nic_layout *layout, uint32_t port);

/** Free the private tables; accepts a zeroed poster. */
void bcs_poster_fini(struct bcs_poster *poster);

/** Allocate an eager block of at least n_bytes. @param n_ahead bytes of the next one to
 *  ask for, as they will be written soon @return its address, or 0: none free */
uint64_t bcs_poster_block(struct bcs_poster *poster, size_t n_bytes, size_t n_ahead);

/** Allocate a block of BCS_CHUNK_BLOCK_BYTES for a part of a long message. @return its
 *  address, or 0: none free */
uint64_t bcs_poster_chunk_block(struct bcs_poster *poster);

/** Take a cell that has never been used, or BCS_CELL_NONE if all are pending or there
 *  is no memory. */
uint32_t bcs_poster_fresh_cell(struct bcs_poster *poster);

/**
 * Whether the engine has carried out all that the owner has posted and that takes
 * messages out of the port's queue: receives, claims and probes that take. Until it
 * posts the next, the queue only grows, and the owner may read it without a lock.
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

#endif
