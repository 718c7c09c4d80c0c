/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links between the desks of ports on different nodes, where each port has a desk of
 * its own: what the holder of a desk's lock has to tell the process of another node's
 * port goes into that port's desk's ring for this one, entry by entry, by
 * Xfer-And-Signal. Called under the lock of the view's desk.
 *
 * Invariant: as in ring.h. The writer's state is in the desk (struct nic_link_end), and
 * the credit among its port's; what finds no room waits in the end's outbox, in order.
 */
#ifndef NIC_THREADS_MACHINE_LINK_H
#define NIC_THREADS_MACHINE_LINK_H

#include "nic_threads/node/node.h"

/** Send a descriptor, without the last bytes of its payload, to the desk of a port. */
void nic_link_send(struct nic_view *view, uint32_t port,
                   const struct bcs_descriptor *descriptor);

/** nic_link_flush where something waits. */
bool nic_link_flush_outboxes(struct nic_view *view);

/** Send what waits in the outboxes, as far as there is room. @return whether any
 *  went */
static inline bool nic_link_flush(struct nic_view *view)
{
    return __builtin_expect(view->desk->n_outbox > 0, 0) &&
           nic_link_flush_outboxes(view);
}

/** nic_link_has_work where something waits. */
bool nic_link_can_go(const struct nic_view *view);

/** Whether something that waits can go; read without the lock. */
static inline bool nic_link_has_work(const struct nic_view *view)
{
    return __builtin_expect(
               __atomic_load_n(&view->desk->n_outbox, __ATOMIC_RELAXED) > 0, 0) &&
           nic_link_can_go(view);
}

/**
 * Tell the desk of a port on another node that a link to it is in use, as the view's
 * node.
 *
 * @param link  its number there
 */
void nic_link_announce(struct nic_view *view, uint32_t port, uint32_t link);

/** Put an entry into a link to the desk of a port on another node, as the view's node;
 *  changes the entry's last word. There is room. */
void nic_link_put(struct nic_view *view, uint32_t port, uint32_t link,
                  uint32_t position, struct bcs_descriptor *entry);

/** Tell a port of another node, or its desk, the credit (bcs_credit_make) for its link
 *  to the view's desk. */
void nic_link_give_back(struct nic_view *view, uint32_t port, bool is_desk,
                        uint64_t credit);

#endif
