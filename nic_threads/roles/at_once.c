/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What needs no batch; see the header.
 */
#include "nic_threads/roles/at_once.h"

#include "nic_threads/node/items.h"
#include "nic_threads/roles/hand_over.h"

/* A receive's descriptor has no payload; what a matched receive has there goes by the batch. */
enum { RECEIVE_BYTES = offsetof(struct bcs_descriptor, payload) };

/** Whether nothing stands in the batch that must come first. */
static inline bool is_first(const struct nic_view *view)
{
    return view->desk->batch.n_receives == 0 && view->desk->batch.n_sends == 0;
}

/** Keep a receive for which no message waits. */
static inline void keep_receive(struct nic_view *view, struct nic_match *match,
                                const struct bcs_descriptor *receive, bool has_stamp)
{
    uint32_t id = nic_item_take(view);
    struct nic_item *item = nic_view_item(view, id);

    memcpy(&item->descriptor, receive, RECEIVE_BYTES);
    if (__builtin_expect(has_stamp, 0)) {
        item->descriptor.stamp = receive->stamp;
    }
    item->port = nic_view_served(view, 0);
    nic_match_add_receive(match, &view->items, id);
}

uint32_t nic_at_once_receives(struct nic_view *view, const struct bcs_ring *ring,
                              uint32_t head, uint32_t n_most)
{
    struct nic_match *match = &view->per_port.match[0];
    uint32_t *n_collected = &view->desk->batch.n_collected;
    bool has_stamps = view->engine->config->record.has_stamps != 0;
    const struct bcs_descriptor *entry;

    assert(is_first(view)); /* its ring comes before all links */
    if (nic_match_n_sends(match) != 0) {
        return head;
    }
    while (*n_collected < n_most &&
           (entry = bcs_ring_entry(ring, view->ring_mask, head)) != NULL &&
           entry->kind == BCS_RECEIVE && (entry->flags & BCS_TAKE) == 0) {
        keep_receive(view, match, entry, has_stamps);
        *n_collected += 1;
        head++;
    }
    return head;
}

/** Whether a message is short and its sender needs no word of it. */
static inline bool is_plain(const struct bcs_descriptor *send)
{
    uint8_t flags = send->flags & (uint8_t)~BCS_STAMPED;

    return send->kind == BCS_SEND &&
           (flags == BCS_DATA_INLINE || flags == BCS_DATA_BLOCK);
}

/** Hand a send to a receive that waits. @return whether there was one */
static inline bool give(struct nic_view *view, struct nic_match *match,
                        const struct bcs_descriptor *send)
{
    uint32_t id = nic_match_first_receive(match, &view->items, send);
    struct nic_item *item;

    if (id == NIC_ITEM_NONE) {
        id = nic_match_find_receive(match, &view->items, send);
        if (id == NIC_ITEM_NONE) {
            return false;
        }
    }
    item = nic_view_item(view, id);
    if (item->descriptor.kind != BCS_RECEIVE) {
        return false; /* a probe */
    }
    nic_match_remove_receive(match, &view->items, id);
    nic_hand_over(view, send, item->port, item->descriptor.cell);
    nic_item_put_back(view->desk, item, id);
    return true;
}

uint32_t nic_at_once_sends(struct nic_view *view, const struct bcs_ring *ring,
                           uint32_t head, uint32_t n_most)
{
    struct nic_match *match = &view->per_port.match[0];
    uint32_t *n_collected = &view->desk->batch.n_collected;
    const struct bcs_descriptor *entry;

    if (!is_first(view)) {
        return head;
    }
    while (*n_collected < n_most &&
           (entry = bcs_ring_entry(ring, view->link_mask, head)) != NULL &&
           is_plain(entry) && give(view, match, entry)) {
        *n_collected += 1;
        head++;
    }
    return head;
}
