/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A message at hand: the next one of its link, for a receive of a port that has nothing else under
 * way at its desk. It can be taken without the roles. Under the desk's engine lock.
 *
 * It is what a slice would give to the receive. A link holds messages in the order of their
 * posting; one that came earlier from this source would be kept at the desk, and that must keep
 * none. And no receive was posted earlier, as the port has nothing under way. So it is counted as
 * a slice. The desk must have nothing to tell others, as only roles do so.
 */
#ifndef NIC_THREADS_ROLES_AT_HAND_H
#define NIC_THREADS_ROLES_AT_HAND_H

#include "nic_threads/node/node.h"

/** What a receive asks for that names its source. */
struct nic_wish {
    uint64_t context_id;
    uint32_t port; /* of the sender, number in the job */
    int32_t tag;   /* -1: any */
};

/** What a look finds. */
enum nic_at_hand {
    NIC_AT_HAND,
    NIC_AT_HAND_NOT_YET, /* nothing lies in the link */
    NIC_AT_HAND_NEVER,   /* something else comes first, or it is no short message */
};

/** The number of the link from a port, if it is in use, also without the lock. @return view->n_links: there is none */
uint32_t nic_at_hand_link(const struct nic_view *view, uint32_t port);

/** Look into a link until something is there, so many times. @param send_out  what is at hand */
enum nic_at_hand nic_at_hand_look(const struct nic_view *view, uint32_t link,
                                  const struct nic_wish *wish, uint32_t n_looks,
                                  const struct bcs_descriptor **send_out);

/** The payload has been copied: the send goes back to its poster. */
void nic_at_hand_give_back(struct nic_view *view, uint32_t link,
                           const struct bcs_descriptor *send);

#endif
