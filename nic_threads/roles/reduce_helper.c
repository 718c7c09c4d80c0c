/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce helper: in the reduce microphase the master of a reduction combines the
 * contributions of all members on the fixed tree of reduce_ops.h and broadcasts the
 * result. Runs under the desk's engine lock. [BCS-MPI section 4.4]
 */
#include <assert.h>
#include <string.h>

#include "nic_threads/roles/roles.h"
#include "nic_threads/rules/reduce_ops.h"

/** Put contributions in their places by rank. @return the sum of 1 + rank of each */
static uint64_t place(struct nic_view *view, uint32_t id, uint32_t n_members)
{
    uint64_t sum = 0;

    for (; id != NIC_ITEM_NONE; id = nic_view_item(view, id)->next) {
        const struct bcs_descriptor *part = &nic_view_item(view, id)->descriptor;

        assert((uint32_t)part->source < n_members);
        memcpy(nic_view_scratch(view) + (size_t)part->source * BCS_INLINE_BYTES,
               part->payload, BCS_INLINE_BYTES);
        sum += 1 + (uint64_t)part->source;
    }
    return sum;
}

static void reduce(struct nic_view *view, uint32_t slot_number)
{
    const struct nic_slot *slot = nic_view_slot(view, slot_number);
    const struct bcs_descriptor *any =
        &nic_view_item(view, slot->first_item)->descriptor;
    uint8_t *operands = nic_view_scratch(view);
    int kernel = (int)bcs_operation_kernel(any->operation);
    size_t n_bytes = any->n_bytes;
    uint64_t n = slot->members.n_members;
    uint64_t sum = place(view, slot->first_item, (uint32_t)n) +
                   place(view, slot->parts - 1, (uint32_t)n);

    assert(n <= view->engine->layout.shape.n_ports);
    assert(slot->n_arrived + slot->n_parts == n && sum == n * (n + 1) / 2);
    (void)sum;
    nic_reduce_tree(kernel, operands, (uint32_t)n,
                    n_bytes / nic_reduce_element_bytes(kernel), BCS_INLINE_BYTES);
    nic_collective_helper_broadcast(view, slot_number, operands, n_bytes);
}

void nic_reduce_helper_step(struct nic_view *view)
{
    const struct nic_batch *batch = &view->desk->batch;

    for (uint32_t i = 0; i < batch->n_ready; i++) {
        const struct nic_slot *slot = nic_view_slot(view, batch->ready[i]);
        /* without an item: a barrier or broadcast on a node that is alone, which is
         * over */
        if (slot->first_item != NIC_ITEM_NONE && !slot->is_refused &&
            nic_is_reduction(&nic_view_item(view, slot->first_item)->descriptor)) {
            reduce(view, batch->ready[i]);
        }
    }
}
