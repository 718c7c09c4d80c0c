/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A short message's last step: it lies in NIC memory already, and the receiver's cell
 * gets it, or says in which block it is. Inlined where the DMA helper delivers, and
 * where a desk does it at once. Under the desk's engine lock.
 */
#ifndef NIC_THREADS_ROLES_HAND_OVER_H
#define NIC_THREADS_ROLES_HAND_OVER_H

#include <string.h>

#include "nic_threads/node/completing.h"
#include "nic_threads/node/node.h"

enum { NIC_FIRST_LINE_PAYLOAD = 24 };

/** Whether a descriptor is a short message that lies on this node, and whose sender
 *  needs no word of it. What has landed goes back to its sender in the order of all
 *  that has. @param is_off_node the sender is on another node, and so are its blocks */
static inline bool nic_is_plain_send(const struct bcs_descriptor *descriptor,
                                     bool is_off_node)
{
    uint8_t flags = descriptor->flags & (uint8_t)~BCS_STAMPED;

    return descriptor->kind == BCS_SEND &&
           (flags == BCS_DATA_INLINE || (!is_off_node && flags == BCS_DATA_BLOCK));
}

/** The rest of nic_hand_over: what is not in the send, or has a stamp. @return the
 *  cell's state */
enum bcs_cell_state nic_hand_over_further(struct bcs_cell *cell,
                                          const struct bcs_descriptor *send);

/** Complete the cell of a local port with a short message. */
static inline void nic_hand_over(struct nic_view *view,
                                 const struct bcs_descriptor *send, uint32_t port,
                                 uint32_t id)
{
    struct bcs_cell *cell = nic_view_cell(view, port, id);
    enum bcs_cell_state state = BCS_CELL_INLINE;

    cell->source = send->source;
    cell->tag = send->tag;
    cell->n_bytes = send->n_bytes;
    if ((send->flags & (BCS_DATA_BLOCK | BCS_STAMPED)) != 0) {
        state = nic_hand_over_further(cell, send);
    } else if (send->n_bytes > NIC_FIRST_LINE_PAYLOAD) {
        memcpy(cell->payload, send->payload, BCS_INLINE_BYTES);
    } else {
        memcpy(cell->payload, send->payload, NIC_FIRST_LINE_PAYLOAD);
    }
    nic_view_complete(view, port, id, cell, state);
}

#endif
