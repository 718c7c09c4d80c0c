/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Items; see the header.
 */
#include "nic_threads/node/items.h"

#include <string.h>

#include "libbcs/fabric/base/fatal.h"

/** Count an item in or out if it holds a send. */
static void count_kept(struct nic_desk *desk, const struct nic_item *item, int32_t n)
{
    if (item->descriptor.kind == BCS_SEND) {
        __atomic_store_n(&desk->n_sends_kept, desk->n_sends_kept + (uint32_t)n,
                         __ATOMIC_RELAXED);
    }
}

uint32_t nic_item_fresh(struct nic_view *view)
{
    if (view->desk->items_touched == view->engine->layout.n_items) {
        bcs_fatal(
            "more than %u operations are pending on a node; raise BCS_DESCRIPTORS",
            view->engine->layout.n_items);
    }
    return view->desk->items_touched++;
}

uint32_t nic_item_new(struct nic_view *view, const struct bcs_descriptor *descriptor,
                      uint32_t port)
{
    uint32_t id = nic_item_take(view);
    struct nic_item *item = nic_view_item(view, id);

    memcpy(&item->descriptor, descriptor, sizeof(*descriptor));
    item->port = port;
    count_kept(view->desk, item, 1);
    return id;
}

void nic_item_blot_out(struct nic_view *view, struct nic_item *item)
{
    count_kept(view->desk, item, -1);
    item->descriptor.kind = BCS_NOTHING;
}

static inline void give_back(struct nic_desk *desk, struct nic_item *item, uint32_t id)
{
    nic_item_put_back(desk, item, id);
    count_kept(desk, item, -1);
}

/** Apart, so that nic_item_free saves no register for a call that it makes seldom. */
static __attribute__((noinline)) void free_later(struct nic_view *view, uint32_t id)
{
    give_back(view->desk, nic_view_item(view, id), id);
}

void nic_item_free(struct nic_view *view, uint32_t id)
{
    if (__builtin_expect(id < view->items.n_first, 1)) {
        give_back(view->desk, &view->items.first[id], id);
    } else {
        free_later(view, id);
    }
}
