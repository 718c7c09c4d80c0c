/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists of items that wait for room; see the header.
 */
#include "nic_threads/node/outbox.h"

#include "nic_threads/node/items.h"

void nic_outbox_add(struct nic_view *view, struct nic_list *outbox, uint32_t *n_waiting,
                    const struct bcs_descriptor *descriptor, uint32_t port)
{
    uint32_t id = nic_item_new(view, descriptor, port);

    nic_view_item(view, id)->next = NIC_ITEM_NONE;
    if (outbox->first == NIC_ITEM_NONE) {
        __atomic_store_n(&outbox->first, id, __ATOMIC_RELAXED);
    } else {
        nic_view_item(view, outbox->last)->next = id;
    }
    outbox->last = id;
    __atomic_store_n(n_waiting, *n_waiting + 1, __ATOMIC_RELAXED);
}

void nic_outbox_drop(struct nic_view *view, struct nic_list *outbox,
                     uint32_t *n_waiting)
{
    uint32_t id = outbox->first;

    __atomic_store_n(&outbox->first, nic_view_item(view, id)->next, __ATOMIC_RELAXED);
    nic_item_free(view, id);
    __atomic_store_n(n_waiting, *n_waiting - 1, __ATOMIC_RELAXED);
}
