/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The slow paths of a port's owner: setting up its view, blocks and cells that are used
 * for the first time. Called by the owning process only.
 */
#include "libbcs/fabric/ring/poster.h"

#include <stdlib.h>
#include <string.h>

#include "libbcs/fabric/base/prefetch.h"

enum {
    BLOCKS_TO_TRY = 4,
    BLOCKS_IN_TURN = 2,          /* at least; see take_block */
    BYTES_TO_PREFETCH = 4 << 10, /* of the next one, at most */
    CHUNK_CLASS = BCS_BLOCK_CLASSES - 1,
    CELLS_AT_FIRST = 64, /* for which there is room in free_cells */
};

void bcs_poster_init(struct bcs_poster *poster_out, struct bcs_core *core,
                     const struct nic_layout *layout, uint32_t port)
{
    const struct nic_region cells = nic_layout_of_port(layout, &layout->cells, port);
    uint64_t port_gva = nic_layout_port_gva(layout, port);
    char *heap = bcs_core_address(core, BCS_HEAP_RESERVED_BYTES);

    memset(poster_out, 0, sizeof(*poster_out));
    poster_out->heap = heap - BCS_HEAP_RESERVED_BYTES;
    poster_out->whole_bytes = layout->whole_bytes;
    poster_out->core = core;
    poster_out->port = bcs_core_address(core, port_gva);
    poster_out->cells = bcs_port_cell(poster_out->port, 0);
    poster_out->n_first_cells = cells.n_first;
    poster_out->cell_region = cells;
    poster_out->orders = (struct bcs_order_table){
        .entries = bcs_core_address(core, nic_layout_order_gva(layout, port)),
        .mask = layout->shape.limits.orders - 1,
    };
    poster_out->ring = bcs_ring_writer_of(bcs_port_ring(poster_out->port),
                                          layout->shape.limits.ring - 1,
                                          nic_layout_desk(layout, port));
    poster_out->n_cells = layout->shape.n_cells;
    for (int i = 0; i < BCS_BLOCK_CLASSES; i++) {
        struct bcs_block_pool *pool = &poster_out->blocks[i];

        pool->region = nic_layout_of_port(layout, &layout->blocks[i], port);
        pool->n_blocks = layout->n_blocks[i];
    }
}

void bcs_poster_fini(struct bcs_poster *poster)
{
    free(poster->free_cells);
    memset(poster, 0, sizeof(*poster));
}

/** Make room for twice as many cells. @return whether there is */
static bool prepare_cells(struct bcs_poster *poster)
{
    uint64_t n = 2 * (uint64_t)poster->n_cells_prepared;
    uint32_t *free_cells;

    n = n < CELLS_AT_FIRST ? CELLS_AT_FIRST : n;
    n = n < poster->n_cells ? n : poster->n_cells;
    free_cells = realloc(poster->free_cells, n * sizeof(*free_cells));
    if (free_cells == NULL) {
        return false;
    }
    poster->free_cells = free_cells;
    poster->n_cells_prepared = (uint32_t)n;
    return true;
}

uint32_t bcs_poster_fresh_cell(struct bcs_poster *poster)
{
    if (poster->n_cells_touched == poster->n_cells ||
        (poster->n_cells_touched == poster->n_cells_prepared &&
         !prepare_cells(poster))) {
        return BCS_CELL_NONE;
    }
    return poster->n_cells_touched++;
}

/** Search n blocks from the cursor. @return address of the block taken, or 0 */
static uint64_t block_search(const struct bcs_poster *poster,
                             struct bcs_block_pool *pool, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint64_t gva = nic_region_gva(&pool->region, pool->cursor);
        struct bcs_block *block = bcs_poster_block_at(poster, gva);

        pool->cursor = pool->cursor + 1 < pool->n_touched ? pool->cursor + 1 : 0;
        /* acquire: pairs with the release in bcs_block_free */
        if (atomic_load_explicit(&block->busy, memory_order_acquire) == 0) {
            atomic_store_explicit(&block->busy, 1, memory_order_relaxed);
            return gva;
        }
    }
    return 0;
}

/** Ask for the lines of the block that comes next, with n_bytes of its data. */
static inline void prefetch_next(const struct bcs_poster *poster,
                                 const struct bcs_block_pool *pool, size_t n_bytes)
{
    const char *block = (const char *)bcs_poster_block_at(
        poster, nic_region_gva(&pool->region, pool->cursor));
    size_t n = n_bytes < BYTES_TO_PREFETCH ? n_bytes : BYTES_TO_PREFETCH;

    for (size_t i = 0; i < sizeof(struct bcs_block) + n; i += BCS_CACHE_LINE) {
        bcs_prefetch_to_write(block + i);
    }
}

/**
 * Take a block, new ones only if those that were used before are busy. They are used in
 * turns: whoever gets a message gives its block back, and has written its line for
 * that, while the next one has long been free. So a sender finds it at hand.
 */
static inline uint64_t take_block(const struct bcs_poster *poster,
                                  struct bcs_block_pool *pool, size_t n_ahead)
{
    uint32_t n = pool->n_touched < BLOCKS_TO_TRY ? pool->n_touched : BLOCKS_TO_TRY;
    uint64_t gva = n < BLOCKS_IN_TURN ? 0 : block_search(poster, pool, n);

    if (gva == 0 && pool->n_touched < pool->n_blocks) {
        pool->cursor = pool->n_touched++;
        gva = block_search(poster, pool, 1);
    } else if (gva == 0) {
        gva = block_search(poster, pool, pool->n_touched);
    }
    if (gva != 0) {
        prefetch_next(poster, pool, n_ahead);
    }
    return gva;
}

uint64_t bcs_poster_block(struct bcs_poster *poster, size_t n_bytes, size_t n_ahead)
{
    int class = 0;

    while (poster->blocks[class].region.stride_bytes - sizeof(struct bcs_block) <
           n_bytes) {
        if (++class == CHUNK_CLASS) {
            return 0;
        }
    }
    return take_block(poster, &poster->blocks[class], n_ahead);
}

uint64_t bcs_poster_chunk_block(struct bcs_poster *poster)
{
    return take_block(poster, &poster->blocks[CHUNK_CLASS], 0);
}

static bool takes_messages(const struct bcs_descriptor *entry)
{
    return entry->kind == BCS_RECEIVE || entry->kind == BCS_CLAIM ||
           (entry->kind == BCS_PROBE && (entry->flags & BCS_TAKE) != 0);
}

/**
 * Whether an entry is known to have been carried out, and with it those before it: a
 * batch's receives and claims are matched before its probes, and all of them before
 * anything is handed over. But a cancellation is told while the receives are matched,
 * before the probes. (A cell that serves a later operation now tells nothing.)
 */
static bool is_complete(const struct bcs_poster *poster,
                        const struct bcs_descriptor *entry)
{
    enum bcs_cell_state state;

    if (entry->kind != BCS_RECEIVE && entry->kind != BCS_PROBE &&
        entry->kind != BCS_COLLECTIVE) {
        return false;
    }
    state = bcs_cell_state(bcs_poster_cell_at(poster, entry->cell));
    return state != BCS_CELL_PENDING && state != BCS_CELL_CANCELLED;
}

bool bcs_poster_is_settled(const struct bcs_poster *poster)
{
    /* acquire: pairs with the engine's release at the end of a slice. A completion is
     * seen before that, so that what was sent before what a process has got is found by
     * it. */
    uint32_t consumed = bcs_ring_consumed(&poster->ring);

    for (uint32_t end = poster->ring.position; end != consumed; end--) {
        const struct bcs_descriptor *entry =
            &poster->ring.entries[(end - 1) & poster->ring.mask];

        if (is_complete(poster, entry)) {
            return true;
        }
        if (takes_messages(entry)) {
            return false;
        }
    }
    return true;
}
