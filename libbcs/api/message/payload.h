/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Putting a send's payload to where it waits for its receiver: the part that the
 * blocking calls of p2p.c inline, since most messages are short; payload.c has the
 * rest. Internal to libbcs/api; called by the process that owns the context.
 */
#ifndef LIBBCS_API_MESSAGE_PAYLOAD_H
#define LIBBCS_API_MESSAGE_PAYLOAD_H

#include "libbcs/api/context/context.h"
#include "libbcs/api/message/request_fetch.h"
#include "libbcs/fabric/base/layout.h"

/** The rest of bcs_payload_put: one that is not just copied into its descriptor. */
bool bcs_payload_put_further(struct bcs_context *context,
                             const struct bcs_ring_writer *ring,
                             struct bcs_descriptor *entry,
                             const struct bcs_message *message);

/** Copy a message's data, which are few, to a place in NIC memory. */
static inline void bcs_payload_copy_out(const struct bcs_message *message, void *to)
{
    const struct bcs_layout *layout = bcs_message_layout(message);

    if (__builtin_expect(layout == NULL, 1)) {
        bcs_copy_short(to, message->data, message->n_bytes);
    } else {
        bcs_layout_pack(layout, message->data, 0, message->n_bytes, to);
    }
}

/** Put the payload into NIC memory, and say in the descriptor where it is. @return
 *  whether it went, so that the send is done; else the descriptor tells of the user's
 *  buffer */
static inline bool bcs_payload_put(struct bcs_context *context,
                                   const struct bcs_ring_writer *ring,
                                   struct bcs_descriptor *entry,
                                   const struct bcs_message *message)
{
    if (message->n_bytes <
        (ring->put_to == 0 ? context->n_inline_near : context->n_inline_off_node)) {
        entry->flags = BCS_DATA_INLINE;
        bcs_payload_copy_out(message, entry->payload);
        return true;
    }
    return bcs_payload_put_further(context, ring, entry, message);
}

#endif
