/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The short way of what is posted to a desk that is alone: the strobe receiver has it
 * carried out first, without the batch, where all roles have their turn with it. So a
 * short message costs one function and not five. Under the desk's engine lock.
 *
 * Invariant: what is carried out at once has the effect that it would have in the
 * batch. There the order is: receives (with claims and cancellations) as they were
 * posted, sends as they came, probes. Here the batch is empty. The port's own ring is
 * read first, up to an entry that needs the batch; the links are read only if there is
 * no such entry, since it would come before them. A link is read up to an entry that
 * needs the batch; what is behind it stays in the link, and other links are independent
 * of it. A word of another desk ("your synchronous send was matched") has to be known
 * before what its port has sent later (dma_helper.c): where there are such, nothing
 * goes at once.
 *
 * A receive takes a kept message, if that is short and plain, or is kept itself. A
 * short plain message goes to the receive that waits for it, or is kept, if the desk
 * may keep one more.
 */
#ifndef NIC_THREADS_ROLES_AT_ONCE_H
#define NIC_THREADS_ROLES_AT_ONCE_H

#include "nic_threads/roles/roles.h"

/**
 * Carry out what is posted to the desk, as many descriptors as a batch has at most;
 * counts as a slice.
 *
 * @param has_left_out  whether something was found that needs the batch
 */
enum nic_carried nic_at_once_run(struct nic_view *view, bool *has_left_out);

#endif
