/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a process puts to ports of other nodes, where each port has a desk of its own:
 * the entries of its links there, with the data of short messages before them, and
 * chunks of long ones. Internal to libbcs/api; called by the process that owns the
 * context, one thread at a time.
 */
#ifndef LIBBCS_API_MESSAGE_OFF_NODE_H
#define LIBBCS_API_MESSAGE_OFF_NODE_H

#include "libbcs/api/context/context.h"

/** Data of a message, from a position on. */
struct bcs_off_node_data {
    const struct bcs_layout *layout; /* NULL: contiguous */
    const void *data;
    size_t position;
    size_t n_bytes;
};

/** Set up what is needed to put. @return 0 or -ENOMEM, logged */
int bcs_off_node_init(struct bcs_context *context);

/** Free it; accepts a zeroed context. */
void bcs_off_node_fini(struct bcs_context *context);

/** Make the link to a port of another node. */
void bcs_off_node_link(struct bcs_context *context, struct bcs_ring_writer *ring,
                       uint32_t port);

/** Publish an entry of such a link; seq_cst, as bcs_ring_publish. */
void bcs_off_node_publish(struct bcs_context *context, struct bcs_ring_writer *ring,
                          struct bcs_descriptor *entry);

/** Put a short message's data to where its send will go. @return the address of their
 *  block, on the receiver's node; 0: there is no room, and nothing was put */
uint64_t bcs_off_node_land(struct bcs_context *context,
                           const struct bcs_ring_writer *ring,
                           const struct bcs_off_node_data *data);

/** Put data into a block on the node of a port. They may be used again on return. */
void bcs_off_node_put(struct bcs_context *context, uint32_t port, uint64_t block_gva,
                      const struct bcs_off_node_data *data);

#endif
