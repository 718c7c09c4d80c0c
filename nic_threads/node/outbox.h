/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Descriptors for one reader that found no room, in order: items of a desk. Called
 * under its lock, by what sends them (wire.c, link.c). Whether something waits is also
 * read without the lock, so that it is written with atomic (relaxed) stores.
 */
#ifndef NIC_THREADS_NODE_OUTBOX_H
#define NIC_THREADS_NODE_OUTBOX_H

#include "nic_threads/node/node.h"

/** Whether nothing waits; also read without the lock. */
static inline bool nic_outbox_is_empty(const struct nic_outbox *outbox)
{
    return __atomic_load_n(&outbox->first, __ATOMIC_RELAXED) == 0;
}

/** The item that waits for room, or NIC_ITEM_NONE. */
static inline uint32_t nic_outbox_first(const struct nic_outbox *outbox)
{
    return outbox->first - 1;
}

_Static_assert(NIC_ITEM_NONE == UINT32_MAX, "one less than 0");

/**
 * Let a descriptor wait behind the others.
 *
 * @param n_waiting  of all outboxes of the sender
 */
void nic_outbox_add(struct nic_view *view, struct nic_outbox *outbox,
                    uint32_t *n_waiting, const struct bcs_descriptor *descriptor,
                    uint32_t port);

/** The first one has been sent. */
void nic_outbox_drop(struct nic_view *view, struct nic_outbox *outbox,
                     uint32_t *n_waiting);

#endif
