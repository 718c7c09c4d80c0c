/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce helper: in the reduce microphase the master of a reduction combines the
 * contributions of all members on the fixed tree of reduce_ops.h and broadcasts the
 * result. Runs under the node's engine lock. [BCS-MPI section 4.4]
 */
#include <string.h>

#include "nic_threads/reduce_ops.h"
#include "nic_threads/roles.h"

/** Put contributions in their places by rank. @return how many */
static uint32_t place(struct nic_view *view, uint32_t id)
{
    uint32_t n = 0;

    for (; id != NIC_ITEM_NONE; id = view->items[id].next, n++) {
        const struct bcs_descriptor *part = &view->items[id].descriptor;
        memcpy(view->engine->scratch + (size_t)part->source * BCS_INLINE_BYTES,
               part->payload, BCS_INLINE_BYTES);
    }
    return n;
}

static void reduce(struct nic_view *view, uint32_t slot_number)
{
    const struct nic_slot *slot = nic_view_slot(view, slot_number);
    const struct bcs_descriptor *any = &view->items[slot->first_item].descriptor;
    int kernel = any->operation / 4;
    size_t n_bytes = any->n_bytes;
    uint32_t n = place(view, slot->first_item) + place(view, slot->parts - 1);

    nic_reduce_tree(kernel, view->engine->scratch, n,
                    n_bytes / nic_reduce_element_bytes(kernel), BCS_INLINE_BYTES);
    nic_collective_helper_broadcast(view, slot_number, view->engine->scratch, n_bytes);
}

void nic_reduce_helper_step(struct nic_view *view)
{
    const struct nic_batch *batch = &view->node->batch;

    for (uint32_t i = 0; i < batch->n_ready; i++) {
        const struct nic_slot *slot = nic_view_slot(view, batch->ready[i]);
        if (slot->first_item != NIC_ITEM_NONE &&
            view->items[slot->first_item].descriptor.operation % 4 ==
                BCS_COLLECTIVE_REDUCE) {
            reduce(view, batch->ready[i]);
        }
    }
}
