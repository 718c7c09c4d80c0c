/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The strobe receiver's collection: what the processes of a node have posted, and the background
 * thread has given back, becomes the batch of a round; afterwards the ring entries are given back
 * to their owners. Under the node's engine lock, but for what says that it is read without.
 */
#ifndef NIC_THREADS_ROLES_COLLECTION_H
#define NIC_THREADS_ROLES_COLLECTION_H

#include "nic_threads/node/node.h"

/** DEM: take what the local processes have posted, starting with another one each time.
 *  @return how many descriptors the batch now has */
uint32_t nic_collection_take(struct nic_view *view);

/** End of a round: empty the batch. */
void nic_collection_empty(struct nic_batch *batch);

/** End of a slice: give the ring entries back to their owners. */
void nic_collection_release(struct nic_view *view);

/**
 * Whether what a process has posted needs a timed strobe. Receives alone do not while no
 * message waits for the process: what they will match is posted later, and then there is a
 * strobe. Needs the lock, or, for the process's own port, that no slice runs.
 *
 * @param local  the process's port, number on the node
 */
bool nic_collection_needs_strobe(const struct nic_view *view, uint32_t local);

/** Whether the owner of a port has published entry `head` of its ring. Read without the lock, as
 *  all that follows. */
static inline bool nic_port_has_entry(const struct nic_view *view, uint32_t local,
                                      uint32_t head)
{
    return bcs_ring_entry(nic_view_ring(view, local), view->ring_mask, head) != NULL;
}

/** Whether the ring of a port holds anything that can be taken. */
static inline bool nic_port_has_work(const struct nic_view *view, uint32_t local)
{
    return nic_port_has_entry(
               view, local,
               __atomic_load_n(&view->per_port.heads[local], __ATOMIC_RELAXED)) &&
           !nic_port_is_held_back(view, local);
}

/** Whether the ring of any local port does. */
static inline bool nic_collection_has_posts(const struct nic_view *view)
{
    for (uint32_t i = 0; i < view->n_local; i++) {
        if (nic_port_has_work(view, i)) {
            return true;
        }
    }
    return false;
}

/** Whether the background thread has given anything back. */
static inline bool nic_collection_has_returned(const struct nic_desk *desk)
{
    /* acquire: pairs with the release in the background thread's give_back */
    return atomic_load_explicit(&desk->n_returned, memory_order_acquire) !=
           __atomic_load_n(&desk->n_returned_seen, __ATOMIC_RELAXED);
}

#endif
