/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists of items that wait for room; see the header.
 */
#include "nic_threads/node/outbox.h"

#include "nic_threads/node/items.h"

void nic_outbox_add(struct nic_view *view, struct nic_outbox *outbox,
                    uint32_t *n_waiting, const struct bcs_descriptor *descriptor,
                    uint32_t port)
{
    uint32_t id = nic_item_new(view, descriptor, port);

    nic_view_item(view, id)->next = NIC_ITEM_NONE;
    if (nic_outbox_is_empty(outbox)) {
        __atomic_store_n(&outbox->first, id + 1, __ATOMIC_RELAXED);
    } else {
        nic_view_item(view, outbox->last - 1)->next = id;
    }
    outbox->last = id + 1;
    __atomic_store_n(n_waiting, *n_waiting + 1, __ATOMIC_RELAXED);
}

void nic_outbox_drop(struct nic_view *view, struct nic_outbox *outbox,
                     uint32_t *n_waiting)
{
    uint32_t id = nic_outbox_first(outbox);

    /* no next one is 0 */
    __atomic_store_n(&outbox->first, nic_view_item(view, id)->next + 1,
                     __ATOMIC_RELAXED);
    nic_item_free(view, id);
    __atomic_store_n(n_waiting, *n_waiting - 1, __ATOMIC_RELAXED);
}
