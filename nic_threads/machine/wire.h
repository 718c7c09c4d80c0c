/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Descriptors from node to node: one ring for each ordered pair of nodes, in the memory
 * of the destination, written with Xfer-And-Signal. Called under the engine lock of the
 * view's node.
 *
 * Invariant: entries sent to a node minus entries it has given back (credit, put by
 * the destination) never exceeds limits.wire; what finds no room waits in the outbox
 * in order. The count of the ring's event is the number of entries that are readable.
 * A node announces itself to another one before its first entry (announce.h), so that
 * the reader looks at the rings that are in use.
 */
#ifndef NIC_THREADS_MACHINE_WIRE_H
#define NIC_THREADS_MACHINE_WIRE_H

#include "nic_threads/node/node.h"
#include "nic_threads/node/recall.h"

/** Send a descriptor; .turn of the copy that arrives is the number of the posting
 *  port. */
void nic_wire_send(struct nic_view *view, uint32_t node,
                   const struct bcs_descriptor *descriptor, uint32_t port);

/** Send what waits in the outboxes, as far as there is room. @return whether any
 *  went */
bool nic_wire_flush(struct nic_view *view);

/** Sort new entries into the batch as far as it has room. After MSM, without takes_all,
 *  each ring is read only up to the first entry that had to be there by then, a send or
 *  a part, which stays for the next slice. @return how many */
uint32_t nic_wire_collect(struct nic_view *view, bool takes_all);

/** Give the collected entries back to their senders, at the end of a slice. */
void nic_wire_release(struct nic_view *view);

/** Whether what has come from other nodes has been read, and nothing waits to go
 *  there. */
bool nic_wire_is_empty(const struct nic_view *view);

/** Whether an entry can be read or sent; read without the lock. */
bool nic_wire_has_work(const struct nic_view *view);

/** Take a send back that waits to go to a node. @return whether it was found */
bool nic_wire_take_back_waiting(struct nic_view *view, uint32_t to,
                                struct nic_recall *recall);

/** Take a send back that has come from a node, and was not read. @return whether it was
 *  found */
bool nic_wire_take_back_arrived(struct nic_view *view, uint32_t from,
                                struct nic_recall *recall);

#endif
