/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffer sender: in the descriptor exchange microphase it delivers each send to the
 * buffer receiver of the destination's node. Sends between processes of one node stay
 * in the batch, where the buffer receiver finds them. Runs under the desk's engine
 * lock. [BCS-MPI section 4.3]
 */
#include "nic_threads/machine/wire.h"
#include "nic_threads/roles/roles.h"

void nic_buffer_sender_step(struct nic_view *view)
{
    struct nic_batch *batch = &view->desk->batch;
    uint32_t n_local = 0;

    for (uint32_t i = 0; i < batch->n_sends; i++) {
        const struct bcs_descriptor *send =
            nic_posted_descriptor(view, &batch->sends[i]);
        if (nic_view_has(view, send->port)) {
            batch->sends[n_local++] = batch->sends[i];
        } else {
            nic_wire_send(view, nic_layout_node(&view->engine->layout, send->port),
                          send, batch->sends[i].port);
        }
    }
    batch->n_sends = n_local;
}
