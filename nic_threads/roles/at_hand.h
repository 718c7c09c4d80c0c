/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A message at hand, for a receive of a port that has nothing else under way at its
 * desk: one that the desk keeps, or else the next one of its sender's link. It can be
 * taken without the roles. Under the desk's engine lock.
 *
 * It is what a slice would give to the receive: the oldest message that the receive
 * accepts. A link holds messages in the order of their posting, and those that the desk
 * keeps came earlier. No receive was posted earlier, as the port has nothing under way.
 * What the port has posted without waiting for it (a claim) may take a kept message, so
 * it must have been carried out. So it is counted as a slice. The desk must have
 * nothing to tell others, as only roles do so.
 */
#ifndef NIC_THREADS_ROLES_AT_HAND_H
#define NIC_THREADS_ROLES_AT_HAND_H

#include "nic_threads/node/node.h"

/** What a receive asks for. */
struct nic_wish {
    uint64_t context_id;
    int32_t source; /* -1: any */
    int32_t tag;    /* -1: any */
    uint32_t link;  /* from the sender; nic_view.n_links: none is in use, or any source
                       will do */
    bool is_off_node; /* the sender is on another node */
};

/** A message that is at hand. */
struct nic_found {
    const struct bcs_descriptor *send;
    uint32_t item; /* that keeps it; NIC_ITEM_NONE: it is in its link */
    uint32_t link;
};

/** What a look finds. */
enum nic_at_hand {
    NIC_AT_HAND,
    NIC_AT_HAND_NOT_YET, /* nothing lies in the link */
    NIC_AT_HAND_NEVER,   /* something else comes first, or it is no short message */
};

/** The number of the link from a port, if it is in use, also without the lock. @return
 *  view->n_links: there is none */
uint32_t nic_at_hand_link(const struct nic_view *view, uint32_t port);

/** Look for a message, in a link until something is there, so many times. @param
 *  found_out what is at hand */
enum nic_at_hand nic_at_hand_look(const struct nic_view *view,
                                  const struct nic_wish *wish, uint32_t n_looks,
                                  struct nic_found *found_out);

/** The payload has been copied: the send goes back to its poster. */
void nic_at_hand_give_back(struct nic_view *view, const struct nic_found *found);

#endif
