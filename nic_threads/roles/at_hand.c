/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The next message of a link; see the header. Under the desk's engine lock.
 */
#include "nic_threads/roles/at_hand.h"

#include "nic_threads/roles/collection.h"

uint32_t nic_at_hand_link(const struct nic_view *view, uint32_t port)
{
    uint32_t link = port - view->first_writer;

    /* relaxed: an entry is looked for only once; whoever waits looks again */
    return link < view->n_post_links &&
                   (atomic_load_explicit(&view->per_port.writers[link / 64],
                                         memory_order_relaxed) >>
                        (link % 64) &
                    1) != 0
               ? link
               : view->n_links;
}

/** Whether it is the message, and short, and its sender needs no word of it. What has landed goes back
 *  to its sender in the order of all that has. */
static inline bool is_wanted(const struct bcs_descriptor *entry,
                             const struct nic_wish *wish, bool is_far)
{
    return entry->kind == BCS_SEND && entry->context_id == wish->context_id &&
           (wish->tag < 0 || entry->tag == wish->tag) &&
           (__builtin_expect(entry->flags == BCS_DATA_INLINE, 1) ||
            entry->flags == (BCS_DATA_INLINE | BCS_STAMPED) ||
            (!is_far && (entry->flags & ~BCS_STAMPED) == BCS_DATA_BLOCK));
}

/** Look at a link until something is there, so many times. */
static inline const struct bcs_descriptor *
look(const struct nic_view *view, struct bcs_ring *ring, bool is_far, uint32_t n_looks)
{
    const struct bcs_descriptor *entry;

    do {
        entry = is_far ? bcs_ring_put_entry(ring, view->link_mask, ring->head)
                       : bcs_ring_entry(ring, view->link_mask, ring->head);
    } while (entry == NULL && --n_looks > 0);
    return entry;
}

enum nic_at_hand nic_at_hand_look(const struct nic_view *view, uint32_t link,
                                  const struct nic_wish *wish, uint32_t n_looks,
                                  const struct bcs_descriptor **send_out)
{
    const struct nic_match *match = &view->per_port.match[0];
    struct bcs_ring *ring = nic_view_link(view, link);
    bool is_far = !nic_view_has(view, wish->port);
    const struct bcs_descriptor *entry;

    assert(match->n_receives == 0);
    if (match->n_sends > 0 || view->desk->n_outbox > 0) {
        return NIC_AT_HAND_NEVER;
    }
    entry = __builtin_expect(is_far, 0) ? look(view, ring, true, n_looks)
                                        : look(view, ring, false, n_looks);
    *send_out = entry;
    if (entry == NULL) {
        return NIC_AT_HAND_NOT_YET;
    }
    return is_wanted(entry, wish, is_far) ? NIC_AT_HAND : NIC_AT_HAND_NEVER;
}

void nic_at_hand_give_back(struct nic_view *view, uint32_t link,
                           const struct bcs_descriptor *send)
{
    struct bcs_ring *ring = nic_view_link(view, link);

    if ((send->flags & BCS_DATA_BLOCK) != 0) {
        bcs_block_free(nic_view_at(view, send->address));
    }
    bcs_ring_set_head(ring, ring->head + 1);
    nic_collection_release_link(view, link);
    __atomic_store_n(&view->desk->slice, view->desk->slice + 1, __ATOMIC_RELAXED);
}
