/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What needs no batch; see the header.
 */
#include "nic_threads/roles/at_once.h"

#include "nic_threads/node/items.h"
#include "nic_threads/roles/collection.h"
#include "nic_threads/roles/hand_over.h"

/* A receive's descriptor has no payload; what a matched receive has there goes by the
 * batch. */
enum { RECEIVE_BYTES = offsetof(struct bcs_descriptor, payload) };

/** Keep a receive for which no message waits. */
static inline void keep_receive(struct nic_view *view, struct nic_match *match,
                                const struct bcs_descriptor *receive)
{
    uint32_t id = nic_item_take(view);
    struct nic_item *item = nic_view_item(view, id);

    memcpy(&item->descriptor, receive, RECEIVE_BYTES);
    if (__builtin_expect(view->engine->config->record.has_stamps != 0, 0)) {
        item->descriptor.stamp = receive->stamp;
    }
    item->port = nic_view_served(view, 0);
    nic_match_add_receive(match, &view->items, id);
}

/** Give a kept message to a receive. @return whether it is plain */
static __attribute__((noinline)) bool give_kept(struct nic_view *view,
                                                struct nic_match *match,
                                                const struct bcs_descriptor *receive,
                                                uint32_t id)
{
    const struct bcs_descriptor *send = &nic_view_item(view, id)->descriptor;

    if (!nic_is_plain_send(send, false)) {
        return false;
    }
    nic_match_remove_send(match, &view->items, id);
    nic_hand_over(view, send, nic_view_served(view, 0), receive->cell);
    nic_item_free(view, id);
    return true;
}

/** Carry out an entry of the port's own ring. @return whether it is a receive that goes
 *  at once */
static inline bool take_receive(struct nic_view *view, struct nic_match *match,
                                const struct bcs_descriptor *entry)
{
    uint32_t id;

    if (entry->kind != BCS_RECEIVE || (entry->flags & BCS_TAKE) != 0) {
        return false;
    }
    id = nic_match_find_send(match, &view->items, entry);
    if (id != NIC_ITEM_NONE) {
        return give_kept(view, match, entry, id);
    }
    keep_receive(view, match, entry);
    return true;
}

/** Keep a message for which no receive waits. @return whether the desk may */
static __attribute__((noinline)) bool keep_send(struct nic_view *view,
                                                struct nic_match *match,
                                                const struct bcs_descriptor *send,
                                                uint32_t link)
{
    if (nic_view_is_full(view)) {
        return false;
    }
    nic_match_add_send(match, &view->items,
                       nic_item_new(view, send, nic_view_writer(view, link)));
    return true;
}

/** Carry out an entry of a link. @return whether it is a message that goes at once */
static inline bool take_send(struct nic_view *view, struct nic_match *match,
                             const struct bcs_descriptor *send, uint32_t link)
{
    struct nic_item *item;
    uint32_t id;

    if (!nic_is_plain_send(send, false)) {
        return false;
    }
    id = nic_match_first_receive(match, &view->items, send);
    if (id == NIC_ITEM_NONE) {
        id = nic_match_find_receive(match, &view->items, send);
        if (id == NIC_ITEM_NONE) {
            return keep_send(view, match, send, link);
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

/** Give back the entries before a position. @return how many there are */
static inline uint32_t give_back(struct bcs_ring *ring, uint32_t head)
{
    uint32_t n = head - ring->head;

    if (n > 0) {
        bcs_ring_set_head(ring, head);
        bcs_ring_give_back(ring);
        nic_ring_let_go(ring);
    }
    return n;
}

/** Read the port's own ring, up to n_most entries. @return how many were carried out */
static inline uint32_t run_ring(struct nic_view *view, uint32_t n_most,
                                bool *has_left_out)
{
    struct nic_match *match = &view->per_port.match[0];
    struct bcs_ring *ring = nic_view_ring(view, 0);
    uint32_t head = ring->head, end = head + n_most;
    const struct bcs_descriptor *entry = NULL;

    while (head != end &&
           (entry = bcs_ring_entry(ring, view->ring_mask, head)) != NULL &&
           take_receive(view, match, entry)) {
        head++;
    }
    *has_left_out = head != end && entry != NULL;
    return give_back(ring, head);
}

/** The same of a link; *has_left_out is only set. */
static inline uint32_t run_link(struct nic_view *view, uint32_t link, uint32_t n_most,
                                bool *has_left_out)
{
    struct nic_match *match = &view->per_port.match[0];
    struct bcs_ring *ring = nic_view_link(view, link);
    uint32_t head = ring->head, end = head + n_most;
    const struct bcs_descriptor *entry = NULL;

    while (head != end &&
           (entry = bcs_ring_entry(ring, view->link_mask, head)) != NULL &&
           take_send(view, match, entry, link)) {
        head++;
    }
    *has_left_out |= head != end && entry != NULL;
    return give_back(ring, head);
}

/** The same of some of the links. */
static inline uint32_t run_links(struct nic_view *view, uint32_t begin, uint32_t end,
                                 uint32_t n_most, bool *has_left_out)
{
    uint32_t n = 0;

    for (uint32_t i = nic_collection_next_writer(view, begin, end); i < end;
         i = nic_collection_next_writer(view, i + 1, end)) {
        n += run_link(view, i, n_most - n, has_left_out);
    }
    return n;
}

enum nic_carried nic_at_once_run(struct nic_view *view, bool *has_left_out)
{
    struct nic_desk *desk = view->desk;
    uint32_t first = (uint32_t)desk->slice % view->n_links;
    uint32_t n_most = nic_view_limits(view)->batch;
    uint32_t n = run_ring(view, n_most, has_left_out);

    assert(desk->batch.n_collected == 0);
    if (!*has_left_out) {
        n += run_links(view, first, view->n_links, n_most - n, has_left_out);
        n += run_links(view, 0, first, n_most - n, has_left_out);
    }
    if (n == 0) {
        return NIC_CARRIED_NOTHING;
    }
    __atomic_store_n(&desk->slice, desk->slice + 1, __ATOMIC_RELAXED);
    return n < n_most ? NIC_CARRIED_ALL : NIC_CARRIED_SOME;
}
