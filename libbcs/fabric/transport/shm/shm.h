/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transport between the nodes of one machine, whose heaps (shm_memory.h) all
 * processes of the job have mapped.
 */
#ifndef LIBBCS_FABRIC_TRANSPORT_SHM_SHM_H
#define LIBBCS_FABRIC_TRANSPORT_SHM_SHM_H

#include "libbcs/fabric/transport/transport.h"

/** The operations of transport "shm". */
extern const struct bcs_transport_ops bcs_shm_ops;

/** A transfer that wakes nobody who sleeps on its events. Errors as of xfer. */
int shm_xfer_quietly(struct bcs_transport *transport, const struct bcs_xfer *xfer);

/*
 * The parts of a primitive, for a transport that has them done on several machines. A
 * set has near nodes only; what stores, compares or signals is called with its locks.
 */

/** Take the locks of all nodes of a set, ascending, or, on an error, none. @return 0 or
 *  -EOWNERDEAD, logged */
int shm_targets_lock(struct bcs_transport *transport,
                     const struct bcs_node_set *targets);

/** Give back the locks of the nodes of a set that are before a node; BCS_NODE_NONE: of
 *  all. */
void shm_targets_unlock(struct bcs_transport *transport,
                        const struct bcs_node_set *targets, uint32_t end);

/** Mark the nodes of a set as broken instead. */
void shm_targets_break(struct bcs_transport *transport,
                       const struct bcs_node_set *targets);

/** Store a transfer's data on all nodes of its set. */
void shm_store_on_all(struct bcs_transport *transport, const struct bcs_xfer *xfer);

/** Count a transfer's events. */
void shm_events_signal(struct bcs_transport *transport, const struct bcs_xfer *xfer);

/** Wake who sleeps on a transfer's events; without the locks. */
void shm_events_wake(struct bcs_transport *transport, const struct bcs_xfer *xfer);

/** Whether a comparison is true on all nodes of its set. */
bool shm_is_true_on_all(struct bcs_transport *transport,
                        const struct bcs_comparison *comparison);

/** Write what a comparison writes, on all nodes of its set. */
void shm_write_to_all(struct bcs_transport *transport,
                      const struct bcs_comparison *comparison);

#endif
