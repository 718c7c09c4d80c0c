/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The short way of what is posted to a desk that is alone: the strobe receiver's collection carries
 * it out as soon as it takes it, instead of sorting it into the batch, where all roles have
 * their turn with it. So a short message whose receive was posted before costs one function
 * and not five. Under the desk's engine lock.
 *
 * Invariant: what is carried out at once has the effect that it would have in the batch. There the
 * order is: receives (with claims and cancellations) as they were posted, sends as they came, probes.
 * So a receive goes at once while no message is kept that it might want; a send, while the batch has
 * neither receives nor sends, to a receive that waits. The port's own ring comes before all links,
 * and a probe of the batch finds what is left, as it would. A word of another desk ("your synchronous send was matched") has to be known before
 * what its port has sent later (dma_helper.c): where there are such, nothing goes at once.
 */
#ifndef NIC_THREADS_ROLES_AT_ONCE_H
#define NIC_THREADS_ROLES_AT_ONCE_H

#include "nic_threads/node/node.h"

/** Take receives from a port's own ring, up to so many. @return the position of the next entry, which
 *  may be anything */
uint32_t nic_at_once_receives(struct nic_view *view, const struct bcs_ring *ring,
                              uint32_t head, uint32_t n_most);

/** Take short messages from a link of this node that receives wait for, up to so many. @return as
 *  nic_at_once_receives */
uint32_t nic_at_once_sends(struct nic_view *view, const struct bcs_ring *ring,
                           uint32_t head, uint32_t n_most);

#endif
