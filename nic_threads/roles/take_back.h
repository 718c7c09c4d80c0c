/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Taking a send back that no receive has got, wherever it lies. Each call needs the
 * lock of the view's desk; at the receiver's its queue is held, too (nic_match_hold).
 */
#ifndef NIC_THREADS_ROLES_TAKE_BACK_H
#define NIC_THREADS_ROLES_TAKE_BACK_H

#include "nic_threads/node/node.h"
#include "nic_threads/node/recall.h"

/**
 * Take a send back at the desk of its receiver: from the ring or the link that it was
 * posted to, the batch, or the queue. Then nobody gets it; the order of all others
 * stays as it is.
 *
 * @return false: it is not here, or the receiver has taken it, by a receive or a
 *         matched probe
 */
bool nic_take_back(struct nic_view *view, struct nic_recall *recall);

/** The same where messages go from node to node by wires, and sender and receiver are
 *  on two: on its way. Needs both locks, and that nothing that a node has put is late.
 *  @param from the sender's desk
 *  @param to  the receiver's */
bool nic_take_back_on_way(struct nic_view *from, struct nic_view *to,
                          struct nic_recall *recall);

#endif
