/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Taking a send back that no receive has got, wherever it lies. Each call needs the
 * lock of the view's desk.
 */
#ifndef NIC_THREADS_ROLES_TAKE_BACK_H
#define NIC_THREADS_ROLES_TAKE_BACK_H

#include "nic_threads/node/node.h"
#include "nic_threads/node/recall.h"

/**
 * Take a send back at the desk of its receiver: from the ring, the link or the wire
 * that it has come by, the batch, or the queue. Then nobody gets it; the order of all
 * others stays as it is.
 *
 * @return NIC_WITHDRAWN           it is taken back
 * @return NIC_WITHDRAWN_TOO_LATE  it is not here, or the receiver has taken it, by a
 *                                 receive or a matched probe
 * @return NIC_WITHDRAWN_NOT_YET   the receiver's process looks into its queue now
 */
enum nic_withdrawn nic_take_back(struct nic_view *view, struct nic_recall *recall);

/** Take a send to another node back at the desk of its sender, where messages go by
 *  wires: it has not left. @return whether it was found */
bool nic_take_back_unsent(struct nic_view *view, struct nic_recall *recall);

#endif
