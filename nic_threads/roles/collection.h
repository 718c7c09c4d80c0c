/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The strobe receiver's collection: what was posted to a desk, and the background
 * thread has given back, becomes the batch of a round; afterwards the ring entries are
 * given back to their owners. Under the desk's engine lock, but for what says that it
 * is read without.
 */
#ifndef NIC_THREADS_ROLES_COLLECTION_H
#define NIC_THREADS_ROLES_COLLECTION_H

#include "nic_threads/node/node.h"

/** DEM: take what the processes of the desk have posted, and what lies in its links,
 *  starting with another one each time. @return how many descriptors the batch now
 *  has */
uint32_t nic_collection_take(struct nic_view *view);

/** End of a round: empty the batch. */
void nic_collection_empty(struct nic_batch *batch);

/** End of a slice: give the ring entries back to their owners. */
void nic_collection_release(struct nic_view *view);

/**
 * Whether what a process has posted needs a timed strobe. Receives alone do not while
 * no message waits for the process: what they will match is posted later, and then
 * there is a strobe. Needs the lock, or, for the process's own port, that no slice
 * runs.
 *
 * @param seat  the place of the process's port on the desk
 */
bool nic_collection_needs_strobe(const struct nic_view *view, uint32_t seat);

/** Give the entries of a link from another node that have been read back to its writer,
 *  if they are many, or much that has landed is free again. Needs the lock. */
void nic_collection_release_off_node(struct nic_view *view, uint32_t link);

/** Give the entries of a link that have been read back to its writer; of another node,
 *  as above. */
static inline void nic_collection_release_link(struct nic_view *view, uint32_t link)
{
    if (__builtin_expect(nic_view_has(view, nic_view_writer(view, link)), 1)) {
        bcs_ring_give_back(nic_view_link(view, link));
    } else {
        nic_collection_release_off_node(view, link);
    }
}

/** The next link in use, from one on and before another one; or `end`. Read without the
 *  lock, as all that follows. */
static inline uint32_t nic_collection_next_writer(const struct nic_view *view,
                                                  uint32_t from, uint32_t end)
{
    return nic_marks_next(&view->per_port.writers, from, end);
}

/** Whether a ring holds anything that can be taken. */
static inline bool nic_ring_has_work(const struct nic_view *view,
                                     const struct bcs_ring *ring, uint32_t mask)
{
    return bcs_ring_entry(ring, mask, bcs_ring_head(ring)) != NULL &&
           !nic_ring_is_held_back(view, ring);
}

/** Whether an entry is at a position of a link. */
static inline bool nic_link_has(const struct nic_view *view, uint32_t link,
                                const struct bcs_ring *ring, uint32_t position)
{
    return nic_view_has(view, nic_view_writer(view, link))
               ? bcs_ring_entry(ring, view->link_mask, position) != NULL
               : bcs_ring_has_put(ring, view->link_mask, position);
}

/** Whether a link holds anything that can be taken. */
static inline bool nic_has_posted(const struct nic_view *view, uint32_t link)
{
    const struct bcs_ring *ring = nic_view_link(view, link);

    return nic_link_has(view, link, ring, bcs_ring_head(ring)) &&
           !nic_ring_is_held_back(view, ring);
}

/** Whether writers on other nodes have begun to use links of the desk. */
static inline bool nic_collection_has_announcements(const struct nic_view *view)
{
    /* acquire: pairs with the signal that follows the put of the announcement */
    return __atomic_load_n(&view->desk->announcements.count, __ATOMIC_ACQUIRE) !=
           __atomic_load_n(&view->desk->n_announcements_seen, __ATOMIC_RELAXED);
}

/** Whether any link of the desk does. */
static inline bool nic_collection_has_linked(const struct nic_view *view)
{
    uint32_t end = view->n_links;

    for (uint32_t i = nic_collection_next_writer(view, 0, end); i < end;
         i = nic_collection_next_writer(view, i + 1, end)) {
        if (nic_has_posted(view, i)) {
            return true;
        }
    }
    return nic_collection_has_announcements(view);
}

/** Whether the ring of any port of the desk does, or a link. */
static inline bool nic_collection_has_posts(const struct nic_view *view)
{
    for (uint32_t i = 0; i < view->n_served; i++) {
        if (nic_ring_has_work(view, nic_view_ring(view, i), view->ring_mask)) {
            return true;
        }
    }
    return nic_collection_has_linked(view);
}

/** Whether the background thread has given anything back. */
static inline bool nic_collection_has_returned(const struct nic_desk *desk)
{
    /* acquire: pairs with the release in the background thread's give_back */
    return atomic_load_explicit(&desk->n_returned, memory_order_acquire) !=
           atomic_load_explicit(&desk->n_returned_seen, memory_order_relaxed);
}

#endif
