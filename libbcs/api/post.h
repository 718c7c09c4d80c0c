/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Posting descriptors, as all API calls do it. Internal to libbcs/api; called by the process
 * that owns the context, one thread at a time.
 */
#ifndef BCS_API_POST_H
#define BCS_API_POST_H

#include "libbcs/api/context.h"

/** Wait for room in the ring. @return the entry; never NULL */
struct bcs_descriptor *bcs_post_wait_for_entry(struct bcs_context *context);

/** The rest of bcs_post_cell, for the number that bcs_poster_cell returned. */
uint32_t bcs_post_fresh_cell(struct bcs_context *context, uint32_t id);

/** Say that all cells are pending, or that there is no memory. @return -ENOMEM */
int bcs_post_no_cell(const struct bcs_context *context);

/** The next ring entry, with kind set and flags cleared; fill it, then bcs_post_end. */
static inline struct bcs_descriptor *bcs_post_begin(struct bcs_context *context,
                                                    enum bcs_descriptor_kind kind)
{
    struct bcs_descriptor *entry = bcs_ring_next(&context->poster.ring);

    if (__builtin_expect(entry == NULL, 0)) {
        entry = bcs_post_wait_for_entry(context);
    }
    entry->kind = (uint8_t)kind;
    entry->flags = 0;
    return entry;
}

/** Allocate a cell in state PENDING of a new generation, or BCS_CELL_NONE. */
static inline uint32_t bcs_post_cell(struct bcs_context *context)
{
    uint32_t id = bcs_poster_cell(&context->poster);

    return __builtin_expect(id < context->n_pending, 1)
               ? id
               : bcs_post_fresh_cell(context, id);
}

/** Publish an entry; the caller is about to wait. */
static inline void bcs_post_end(struct bcs_context *context,
                                struct bcs_descriptor *entry)
{
    bcs_ring_publish(&context->poster.ring, entry);
}

/** Publish an entry when the caller will not wait: see that somebody looks at it. */
static inline void bcs_post_kick(struct bcs_context *context,
                                 struct bcs_descriptor *entry)
{
    bcs_ring_publish(&context->poster.ring, entry);
    context->driver->kick(context->engine);
}

/**
 * After the kick for an operation that the engine must move on before it can complete: have
 * it carried out also if nobody waits. (Short messages have no need of it: they lie in NIC
 * memory until their receiver looks.)
 */
static inline void bcs_post_leave(struct bcs_context *context)
{
    context->driver->leave(context->engine);
}

#endif
