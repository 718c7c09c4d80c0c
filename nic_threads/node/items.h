/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Items, which keep descriptors beyond their slice. Called by the roles, under the lock
 * of the view's desk.
 */
#ifndef NIC_THREADS_NODE_ITEMS_H
#define NIC_THREADS_NODE_ITEMS_H

#include "nic_threads/node/node.h"

/** An item that has never been used. If all are in use, the process ends (logged). */
uint32_t nic_item_fresh(struct nic_view *view);

/** An item that holds nothing, as nic_item_fresh. */
static inline uint32_t nic_item_take(struct nic_view *view)
{
    struct nic_desk *desk = view->desk;
    uint32_t id = desk->free_item;

    if (__builtin_expect(id == NIC_ITEM_NONE, 0)) {
        return nic_item_fresh(view);
    }
    desk->free_item = nic_view_item(view, id)->next;
    return id;
}

/** Give an item back, number id, that does not hold a send. */
static inline void nic_item_put_back(struct nic_desk *desk, struct nic_item *item,
                                     uint32_t id)
{
    item->next = desk->free_item;
    desk->free_item = id;
}

/**
 * Keep a descriptor beyond its slice. If all items are in use, the process ends
 * (logged).
 *
 * @return the item, with descriptor and port set; never NIC_ITEM_NONE
 */
uint32_t nic_item_new(struct nic_view *view, const struct bcs_descriptor *descriptor,
                      uint32_t port);

/** The send in an item is taken back: what is left asks for nothing, and does not count
 *  as a send. */
void nic_item_blot_out(struct nic_view *view, struct nic_item *item);

/** Give an item back. */
void nic_item_free(struct nic_view *view, uint32_t id);

#endif
