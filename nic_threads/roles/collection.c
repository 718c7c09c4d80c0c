/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collection; see the header. Sends stay in their ring while the desk keeps as many as
 * it may.
 */
#include "nic_threads/roles/collection.h"

#include "libbcs/fabric/ring/landing.h"
#include "nic_threads/machine/announce.h"
#include "nic_threads/machine/link.h"
#include "nic_threads/node/completing.h"

/** Of this part of a ring, receives need no strobe; more are taken, so that no ring
 *  fills with them. */
enum { PART_WITHOUT_STROBE = 4 };

/** Entries of a ring from another node are given back a part at a time. */
enum { CREDITS_A_RING = 4 };

enum { NO_LINK = UINT32_MAX };

/** Sort one descriptor into the batch. */
static void batch_add(struct nic_batch *batch, const struct bcs_descriptor *descriptor,
                      const struct nic_posted *posted)
{
    switch (descriptor->kind) {
    case BCS_SEND:
        batch->sends[batch->n_sends++] = *posted;
        break;
    case BCS_RECEIVE:
    case BCS_CLAIM:
    case BCS_CANCEL: /* of a receive before it, not of a later one with the same cell */
        batch->receives[batch->n_receives++] = *posted;
        break;
    case BCS_PROBE:
        batch->probes[batch->n_probes++] = *posted;
        break;
    case BCS_NOTHING:
        break;
    default:
        batch->controls[batch->n_controls++] = *posted;
        break;
    }
}

/** The data of a short message have come with it from another node: note where they
 *  lie, so that the room is given back when it is empty. */
static void take_landed(struct nic_view *view, const struct bcs_descriptor *send,
                        uint32_t port)
{
    struct nic_landing *landing = &nic_view_partner(view, port)->landing;
    struct bcs_block *block = nic_view_block(view, send->address);
    uint64_t landing_gva =
        nic_layout_landing_gva(&view->engine->layout, nic_view_served(view, 0), port);

    landing->taken =
        bcs_landing_end(landing->taken, (uint32_t)(send->address - landing_gva),
                        (uint32_t)send->n_bytes, nic_view_limits(view)->landing);
    /* relaxed: the reader learns of it by its cell */
    atomic_store_explicit(&block->busy, 1, memory_order_relaxed);
    block->n_bytes = landing->taken;
    nic_view_queue_block(view, &landing->first_gva, &landing->last_gva, send->address);
}

/** The entry at a position of a link, or NULL if it is not there yet. */
static inline const struct bcs_descriptor *link_entry(const struct nic_view *view,
                                                      uint32_t link,
                                                      struct bcs_ring *ring,
                                                      uint32_t position)
{
    return nic_view_has(view, nic_view_writer(view, link))
               ? bcs_ring_entry(ring, view->link_mask, position)
               : bcs_ring_put_entry(ring, view->link_mask, position);
}

/** Take what was put into a ring, which is at a global address: up to so many
 *  descriptors. @param link its number, or NO_LINK @return whether there was
 *  anything */
static inline bool collect_ring(struct nic_view *view, uint64_t gva, uint32_t link,
                                uint32_t port, uint32_t n_most)
{
    struct bcs_ring *ring = nic_view_at(view, gva);
    struct nic_batch *batch = &view->desk->batch;
    const struct bcs_descriptor *descriptor;
    uint32_t first = bcs_ring_head(ring), head = first;

    nic_ring_let_go(ring);
    while (batch->n_collected < n_most &&
           (descriptor = link == NO_LINK
                             ? bcs_ring_entry(ring, view->ring_mask, head)
                             : link_entry(view, link, ring, head)) != NULL) {
        struct nic_posted posted = {
            .gva = gva + (uint64_t)((const char *)descriptor - (const char *)ring),
            .port = port,
            .item = NIC_ITEM_NONE,
        };
        if (descriptor->kind == BCS_SEND && nic_view_is_full(view)) {
            __atomic_store_n(&ring->is_held, true, __ATOMIC_RELAXED);
            nic_view_hold(view);
            break; /* the sender waits until receives have made room */
        }
        if ((descriptor->flags & BCS_LANDED) != 0) {
            take_landed(view, descriptor, port);
            if (descriptor->kind == BCS_NOTHING) {
                bcs_block_free(nic_view_block(view, descriptor->address));
            }
        }
        batch_add(batch, descriptor, &posted);
        batch->n_collected++;
        head++;
    }
    if (head == first) {
        return false;
    }
    bcs_ring_set_head(ring, head);
    return true;
}

static void collect_port(struct nic_view *view, uint32_t seat)
{
    if (collect_ring(view, nic_view_gva(view, nic_view_ring(view, seat)), NO_LINK,
                     nic_view_served(view, seat), nic_view_limits(view)->batch)) {
        nic_mark(view->per_port.touched, seat);
    }
}

/** Take what lies in some of the links, until the batch has so many descriptors. */
static void collect_links(struct nic_view *view, uint32_t begin, uint32_t end,
                          uint32_t n_most)
{
    struct nic_desk *desk = view->desk;

    for (uint32_t i = nic_collection_next_writer(view, begin, end); i < end;
         i = nic_collection_next_writer(view, i + 1, end)) {
        if (collect_ring(view, nic_region_gva(&view->links, i), i,
                         nic_view_writer(view, i), n_most)) {
            desk->links_touched[desk->n_links_touched++] = i;
        }
    }
}

/** Queue the transfers whose chunk the background thread has copied, and hand back
 *  those that it may not copy. */
static void take_returned(struct nic_view *view)
{
    struct nic_desk *desk = view->desk;

    while (nic_collection_has_returned(desk)) {
        uint64_t n = atomic_load_explicit(&desk->n_returned_seen, memory_order_relaxed);
        const struct nic_returned *returned =
            &desk->returned[n % nic_view_limits(view)->returned];

        if (returned->item != NIC_ITEM_NONE) {
            nic_schedule_add(&desk->schedule, &view->items, returned->item);
        } else {
            nic_view_remind(view, returned->port, returned->cell);
        }
        /* release: pairs with the acquire in the background thread's has_room */
        atomic_store_explicit(&desk->n_returned_seen, n + 1, memory_order_release);
    }
}

/** Take notice of links that writers on other nodes have begun to use. */
static void take_announcements(struct nic_view *view)
{
    struct nic_desk *desk = view->desk;
    uint64_t n = __atomic_load_n(&desk->announcements.count, __ATOMIC_ACQUIRE);

    nic_announced_take(&view->per_port.announced, view->n_links,
                       &view->per_port.writers);
    __atomic_store_n(&desk->n_announcements_seen, n, __ATOMIC_RELAXED);
}

/** Take what lies in the links: of ports from a slice's first one on; then of desks, so
 *  that what a desk has said before its port has posted something is known with it. */
static void take_linked(struct nic_view *view, uint64_t slice)
{
    uint32_t n_most = nic_view_limits(view)->batch;
    uint32_t n_posts = view->n_post_links, first = (uint32_t)(slice % n_posts);

    if (nic_collection_has_announcements(view)) {
        take_announcements(view);
    }
    collect_links(view, first, n_posts, n_most);
    collect_links(view, 0, first, n_most);
    if (view->n_links > n_posts) {
        n_most = view->desk->batch.n_collected + nic_view_limits(view)->arrivals;
        first = n_posts + (uint32_t)(slice % (view->n_links - n_posts));
        collect_links(view, first, view->n_links, n_most);
        collect_links(view, n_posts, first, n_most);
    }
}

uint32_t nic_collection_take(struct nic_view *view)
{
    uint64_t slice = view->is_alone ? view->desk->slice : view->node->round;
    uint32_t first = view->n_served > 1 ? (uint32_t)(slice % view->n_served) : 0;

    take_returned(view);
    for (uint32_t i = first; i < view->n_served; i++) {
        collect_port(view, i);
    }
    for (uint32_t i = 0; i < first; i++) {
        collect_port(view, i);
    }
    if (view->n_links > 0) {
        take_linked(view, slice);
    }
    return view->desk->batch.n_collected;
}

/** Whether the owner has published entry `first` of a ring and all that there is room
 *  for behind it. */
static bool is_full(const struct nic_view *view, const struct bcs_ring *ring,
                    uint32_t first)
{
    return bcs_ring_entry(ring, view->ring_mask, first + view->ring_mask) != NULL;
}

/** Give the entries that have been read back to their owner. */
static void release_ring(struct nic_view *view, uint32_t seat)
{
    struct bcs_ring *ring = nic_view_ring(view, seat);
    uint32_t before = bcs_ring_give_back(ring);

    if (view->engine->is_background) {
        /* Where processes do not run the engine they sleep for want of room. The owner
         * publishes, announces its parking (seq_cst) and looks at consumed: either it
         * sees the store above, or this fence comes later, and its entries are seen. */
        atomic_thread_fence(memory_order_seq_cst);
        if (is_full(view, ring, before)) {
            nic_view_touch(view, nic_view_served(view, seat));
        }
    }
}

/** Let go of the blocks of a landing ring that are empty, up to the first one that is
 *  not. */
static void free_landed(struct nic_view *view, struct nic_landing *landing)
{
    while (landing->first_gva != 0) {
        const struct bcs_block *block = nic_view_block(view, landing->first_gva);

        /* acquire: pairs with bcs_block_free by who has emptied it */
        if (atomic_load_explicit(&block->busy, memory_order_acquire) != 0) {
            return;
        }
        landing->freed = block->n_bytes;
        landing->first_gva = block->next;
    }
}

/** Whether the port of a link from another node may want to know how much of its
 *  landing ring is free. */
static bool has_landed_much(struct nic_view *view, struct nic_landing *landing)
{
    free_landed(view, landing);
    return landing->freed - landing->told >
           nic_view_limits(view)->landing / CREDITS_A_RING;
}

void nic_collection_release_off_node(struct nic_view *view, uint32_t link)
{
    struct bcs_ring *ring = nic_view_link(view, link);
    uint32_t writer = nic_view_writer(view, link);
    struct nic_landing *landing = &nic_view_partner(view, writer)->landing;
    bool is_desk = link >= view->n_post_links;
    /* relaxed: only written here; what was given back so far */
    uint32_t before = atomic_load_explicit(&ring->consumed, memory_order_relaxed);
    uint64_t credit;

    if ((is_desk || !has_landed_much(view, landing)) &&
        ring->head - before < (view->link_mask + 1) / CREDITS_A_RING + 1) {
        return;
    }
    credit = bcs_credit_make(ring->head, is_desk ? 0 : landing->freed);
    landing->told = is_desk ? landing->told : landing->freed;
    atomic_store_explicit(&ring->consumed, ring->head, memory_order_relaxed);
    nic_link_give_back(view, writer, is_desk, credit);
}

void nic_collection_release(struct nic_view *view)
{
    struct nic_desk *desk = view->desk;

    nic_view_take_marks(view, view->per_port.touched, view->n_served, release_ring);
    for (uint32_t i = 0; i < desk->n_links_touched; i++) {
        nic_collection_release_link(view, desk->links_touched[i]);
    }
    desk->n_links_touched = 0;
}

void nic_collection_empty(struct nic_batch *batch)
{
    batch->n_collected = 0;
    batch->n_sends = 0;
    batch->n_receives = 0;
    batch->n_probes = 0;
    batch->n_controls = 0;
    batch->n_pairs = 0;
    batch->n_shares = 0;
    batch->n_ready = 0;
    batch->is_matched = false;
}

/** Whether an entry of a ring has no effect before something else is posted: a receive
 *  of a process for which no message waits. */
static bool can_wait(const struct nic_view *view, uint32_t seat,
                     const struct bcs_descriptor *descriptor)
{
    return descriptor->kind == BCS_RECEIVE && (descriptor->flags & BCS_TAKE) == 0 &&
           nic_match_n_sends(&view->per_port.match[seat]) == 0;
}

bool nic_collection_needs_strobe(const struct nic_view *view, uint32_t seat)
{
    const struct bcs_ring *ring = nic_view_ring(view, seat);
    uint32_t head = bcs_ring_head(ring);
    const struct bcs_descriptor *descriptor;
    uint32_t n_most = (view->ring_mask + 1) / PART_WITHOUT_STROBE;
    uint32_t n = 0;

    while (n < n_most &&
           (descriptor = bcs_ring_entry(ring, view->ring_mask, head + n)) != NULL &&
           can_wait(view, seat, descriptor)) {
        n++;
    }
    if (n == 0) {
        return nic_ring_has_work(view, ring, view->ring_mask);
    }
    return bcs_ring_entry(ring, view->ring_mask, head + n) != NULL;
}
