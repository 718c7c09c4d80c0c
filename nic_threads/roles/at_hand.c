/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A kept message, or the next one of a link; see the header. Under the desk's engine
 * lock.
 */
#include "nic_threads/roles/at_hand.h"

#include "nic_threads/node/items.h"
#include "nic_threads/roles/collection.h"
#include "nic_threads/roles/hand_over.h"

uint32_t nic_at_hand_link(const struct nic_view *view, uint32_t port)
{
    uint32_t link = port - view->first_writer;

    /* relaxed: an entry is looked for only once; whoever waits looks again */
    return link < view->n_post_links && nic_marks_has(&view->per_port.writers, link)
               ? link
               : view->n_links;
}

/** Whether it is the message, and can be taken. */
static inline bool is_wanted(const struct bcs_descriptor *entry,
                             const struct nic_wish *wish)
{
    return nic_is_plain_send(entry, wish->is_off_node) &&
           entry->context_id == wish->context_id &&
           (wish->tag < 0 || entry->tag == wish->tag);
}

/** Look at a link until something is there, so many times. */
static inline const struct bcs_descriptor *look(const struct nic_view *view,
                                                struct bcs_ring *ring, bool is_off_node,
                                                uint32_t n_looks)
{
    const struct bcs_descriptor *entry;

    do {
        entry = is_off_node ? bcs_ring_put_entry(ring, view->link_mask, ring->head)
                            : bcs_ring_entry(ring, view->link_mask, ring->head);
    } while (entry == NULL && --n_looks > 0);
    return entry;
}

/** Look among the messages that the desk keeps. @return NIC_AT_HAND_NOT_YET: none is
 *  wanted */
static __attribute__((noinline)) enum nic_at_hand
look_at_kept(const struct nic_view *view, const struct nic_wish *wish,
             struct nic_found *found_out)
{
    const struct bcs_ring *own = nic_view_ring(view, 0);
    const struct nic_item *item;
    uint32_t id;

    if (bcs_ring_entry(own, view->ring_mask, own->head) != NULL) {
        return NIC_AT_HAND_NEVER;
    }
    id = nic_match_find_send(&view->per_port.match[0], &view->items,
                             &(struct bcs_descriptor){.context_id = wish->context_id,
                                                      .source = wish->source,
                                                      .tag = wish->tag});
    if (id == NIC_ITEM_NONE) {
        return NIC_AT_HAND_NOT_YET;
    }
    item = nic_view_item(view, id);
    found_out->send = &item->descriptor;
    found_out->item = id;
    return nic_is_plain_send(found_out->send, !nic_view_has(view, item->port))
               ? NIC_AT_HAND
               : NIC_AT_HAND_NEVER;
}

enum nic_at_hand nic_at_hand_look(const struct nic_view *view,
                                  const struct nic_wish *wish, uint32_t n_looks,
                                  struct nic_found *found_out)
{
    const struct nic_match *match = &view->per_port.match[0];
    enum nic_at_hand kept = NIC_AT_HAND_NOT_YET;
    struct bcs_ring *ring;

    assert(match->n_receives == 0);
    if (view->desk->n_outbox > 0) {
        return NIC_AT_HAND_NEVER;
    }
    if (__builtin_expect(match->n_sends > 0, 0)) {
        kept = look_at_kept(view, wish, found_out);
    }
    if (kept != NIC_AT_HAND_NOT_YET || wish->link == view->n_links) {
        return kept;
    }
    ring = nic_view_link(view, wish->link);
    found_out->send = __builtin_expect(wish->is_off_node, 0)
                          ? look(view, ring, true, n_looks)
                          : look(view, ring, false, n_looks);
    found_out->item = NIC_ITEM_NONE;
    found_out->link = wish->link;
    if (found_out->send == NULL) {
        return NIC_AT_HAND_NOT_YET;
    }
    return is_wanted(found_out->send, wish) ? NIC_AT_HAND : NIC_AT_HAND_NEVER;
}

void nic_at_hand_give_back(struct nic_view *view, const struct nic_found *found)
{
    if ((found->send->flags & BCS_DATA_BLOCK) != 0) {
        bcs_block_free(nic_view_at(view, found->send->address));
    }
    if (found->item == NIC_ITEM_NONE) {
        struct bcs_ring *ring = nic_view_link(view, found->link);

        bcs_ring_set_head(ring, ring->head + 1);
        nic_collection_release_link(view, found->link);
    } else {
        nic_match_remove_send(&view->per_port.match[0], &view->items, found->item);
        nic_item_free(view, found->item);
    }
    __atomic_store_n(&view->desk->slice, view->desk->slice + 1, __ATOMIC_RELAXED);
}
