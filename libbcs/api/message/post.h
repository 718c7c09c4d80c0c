/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Posting descriptors, as all API calls do it. Internal to libbcs/api; called by the
 * process that owns the context, one thread at a time.
 */
#ifndef LIBBCS_API_MESSAGE_POST_H
#define LIBBCS_API_MESSAGE_POST_H

#include "libbcs/api/context/context.h"
#include "libbcs/api/message/off_node.h"

/** Set up what a process posts to, after its engine. @return 0 or -ENOMEM, logged */
int bcs_post_init(struct bcs_context *context);

/** Free it; accepts a zeroed context. */
void bcs_post_fini(struct bcs_context *context);

/** Wait for room in a ring. @return the entry; never NULL */
struct bcs_descriptor *bcs_post_wait_for_entry(struct bcs_context *context,
                                               struct bcs_ring_writer *ring);

/** Make the link to another port. */
void bcs_post_link(struct bcs_context *context, struct bcs_ring_writer *ring,
                   uint32_t port);

/** The rest of bcs_post_cell, for the number that bcs_poster_cell returned. */
uint32_t bcs_post_fresh_cell(struct bcs_context *context, uint32_t id);

/** Say that all cells are pending, or that there is no memory. @return -ENOMEM */
int bcs_post_no_cell(const struct bcs_context *context);

/** The ring that is read for this process: of receives, and of what concerns them. */
static inline struct bcs_ring_writer *bcs_post_own(struct bcs_context *context)
{
    return &context->poster.ring;
}

/** The ring that is read where a message for a port is matched, or what concerns it. */
static inline struct bcs_ring_writer *bcs_post_to(struct bcs_context *context,
                                                  uint32_t port)
{
    struct bcs_ring_writer *ring;

    if (context->links == NULL || port == context->port) {
        return bcs_post_own(context);
    }
    ring = &context->links[port];
    if (__builtin_expect(ring->entries == NULL, 0)) {
        bcs_post_link(context, ring, port);
    }
    return ring;
}

/** The ring that is read where the collectives of this process's node are counted. */
static inline struct bcs_ring_writer *bcs_post_to_node(struct bcs_context *context)
{
    return nic_layout_has_node_desks(&context->engine->layout)
               ? &context->node_link
               : bcs_post_to(context, nic_engine_own(context->engine)->first_port);
}

/** The next entry of a ring, with kind set and flags cleared; fill it, then
 *  bcs_post_end. */
static inline struct bcs_descriptor *bcs_post_begin(struct bcs_context *context,
                                                    struct bcs_ring_writer *ring,
                                                    enum bcs_descriptor_kind kind)
{
    struct bcs_descriptor *entry = bcs_ring_next(ring);

    if (__builtin_expect(entry == NULL, 0)) {
        entry = bcs_post_wait_for_entry(context, ring);
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

/** Publish an entry when the caller is going to wait. seq_cst. */
static inline void bcs_post_publish(struct bcs_context *context,
                                    struct bcs_ring_writer *ring,
                                    struct bcs_descriptor *entry)
{
    if (__builtin_expect(ring->put_to != 0, 0)) {
        bcs_off_node_publish(context, ring, entry);
    } else {
        bcs_ring_publish(ring, entry);
    }
}

/** Publish an entry when the caller will not wait: see that somebody looks at it. */
static inline void bcs_post_kick(struct bcs_context *context,
                                 struct bcs_ring_writer *ring,
                                 struct bcs_descriptor *entry)
{
    bcs_post_publish(context, ring, entry);
    context->driver->kick(context->engine, ring->reader);
}

/**
 * After the kick for an operation that the engine must move on before it can complete:
 * have it carried out also if nobody waits. (Short messages have no need of it: they
 * lie in NIC memory until their receiver looks.)
 */
static inline void bcs_post_leave(struct bcs_context *context,
                                  const struct bcs_ring_writer *ring)
{
    context->driver->leave(context->engine, ring->reader);
}

#endif
