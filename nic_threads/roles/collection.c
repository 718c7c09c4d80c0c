/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collection; see the header. Sends stay in their ring while the desk keeps as many as it may.
 */
#include "nic_threads/roles/collection.h"

/** Of this part of a ring, receives need no strobe; more are taken, so that no ring fills with
 *  them. */
enum { PART_WITHOUT_STROBE = 4 };

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
    default:
        batch->notes[batch->n_notes++] = *posted;
        break;
    }
}

/** Take what a port has put into a ring, which is at a global address. @return whether there was
 *  anything */
static bool collect_ring(struct nic_view *view, uint64_t gva, uint32_t mask,
                         uint32_t port)
{
    struct bcs_ring *ring = nic_view_at(view, gva);
    struct nic_batch *batch = &view->desk->batch;
    const struct bcs_descriptor *descriptor;
    uint32_t n_most = nic_view_limits(view)->batch;
    uint32_t first = bcs_ring_head(ring), head = first;

    if (ring->is_held) {
        __atomic_store_n(&ring->is_held, false, __ATOMIC_RELAXED);
    }
    while (batch->n_collected < n_most &&
           (descriptor = bcs_ring_entry(ring, mask, head)) != NULL) {
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
    if (collect_ring(view, nic_view_gva(view, nic_view_ring(view, seat)),
                     view->ring_mask, nic_view_served(view, seat))) {
        nic_mark(view->per_port.touched, seat);
    }
}

/** Take what lies in the links from some of the local ports. */
static void collect_links(struct nic_view *view, uint32_t begin, uint32_t end)
{
    struct nic_desk *desk = view->desk;

    for (uint32_t i = nic_collection_next_writer(view, begin, end); i < end;
         i = nic_collection_next_writer(view, i + 1, end)) {
        if (collect_ring(view, nic_region_gva(&view->links, i), view->link_mask,
                         view->first_port + i)) {
            desk->links_touched[desk->n_links_touched++] = i;
        }
    }
}

/** Queue the transfers whose chunk the background thread has copied, and hand back those that
 *  it may not copy. */
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

uint32_t nic_collection_take(struct nic_view *view)
{
    const struct nic_node *node = view->node;
    const struct nic_desk *desk = view->desk;
    uint64_t number = nic_is_alone(view->engine) ? desk->slice : node->round;
    uint32_t first = (uint32_t)(number % view->n_served);

    take_returned(view);
    for (uint32_t i = first; i < view->n_served; i++) {
        collect_port(view, i);
    }
    for (uint32_t i = 0; i < first; i++) {
        collect_port(view, i);
    }
    if (view->n_links > 0) {
        first = (uint32_t)(number % view->n_links);
        collect_links(view, first, view->n_links);
        collect_links(view, 0, first);
    }
    return view->desk->batch.n_collected;
}

/** Whether the owner has published entry `first` of a ring and all that there is room for
 *  behind it. */
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
         * publishes, announces its parking (seq_cst) and looks at consumed: either it sees the
         * store above, or this fence comes later, and its entries are seen. */
        atomic_thread_fence(memory_order_seq_cst);
        if (is_full(view, ring, before)) {
            nic_view_touch(view, nic_view_served(view, seat));
        }
    }
}

void nic_collection_release(struct nic_view *view)
{
    struct nic_desk *desk = view->desk;

    nic_view_take_marks(view, view->per_port.touched, view->n_served, release_ring);
    for (uint32_t i = 0; i < desk->n_links_touched; i++) {
        bcs_ring_give_back(nic_view_link(view, desk->links_touched[i]));
    }
    desk->n_links_touched = 0;
}

void nic_collection_empty(struct nic_batch *batch)
{
    batch->n_collected = 0;
    batch->n_sends = 0;
    batch->n_receives = 0;
    batch->n_probes = 0;
    batch->n_notes = 0;
    batch->n_pairs = 0;
    batch->n_shares = 0;
    batch->n_ready = 0;
}

/** Whether an entry of a ring has no effect before something else is posted: a receive of
 *  a process for which no message waits. */
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
