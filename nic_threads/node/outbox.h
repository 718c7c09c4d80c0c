/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Descriptors for one reader that found no room, in order: items of a desk. Called
 * under its lock, by what sends them (wire.c, link.c). Whether something waits is also
 * read without the lock, so that it is written with atomic (relaxed) stores.
 */
#ifndef NIC_THREADS_NODE_OUTBOX_H
#define NIC_THREADS_NODE_OUTBOX_H

#include "nic_threads/node/node.h"

/**
 * Let a descriptor wait behind the others.
 *
 * @param n_waiting  of all outboxes of the sender
 */
void nic_outbox_add(struct nic_view *view, struct nic_list *outbox, uint32_t *n_waiting,
                    const struct bcs_descriptor *descriptor, uint32_t port);

/** The first one has been sent. */
void nic_outbox_drop(struct nic_view *view, struct nic_list *outbox,
                     uint32_t *n_waiting);

#endif
