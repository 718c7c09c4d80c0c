/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Taking a message that is at hand (nic_threads/roles/at_hand.h), with strobes on
 * demand: the receiver takes it by itself, without a descriptor of its own and a cell.
 * By the owner of the port of a desk.
 *
 * Nothing waits for it. The lock is held for as long as some looks take, by a process
 * that is awake: whoever has work for the desk meanwhile leaves it to the turn after
 * the unlocking (engine_lock.c). A caller that does not find its message posts its
 * receive and waits as ever.
 */
#ifndef NIC_THREADS_DRIVERS_TAKE_AT_HAND_H
#define NIC_THREADS_DRIVERS_TAKE_AT_HAND_H

#include "nic_threads/node/views.h"
#include "nic_threads/roles/at_hand.h"

/**
 * Look for a message, for a microsecond or so if this process has a core to itself. The
 * process has posted no operation that is not over.
 *
 * @param wish       but for its link, which is found, and is_off_node
 * @param port       of the sender, number in the job, if the wish names its source
 * @param found_out its send, with the payload in it or in a block, to be given back by
 * nic_at_hand_end
 * @return whether it is at hand
 */
bool nic_at_hand_begin(struct nic_engine *engine, struct nic_wish *wish, uint32_t port,
                       struct nic_found *found_out);

/** The payload of a send that is at hand. */
static inline const void *nic_at_hand_data(const struct nic_engine *engine,
                                           const struct bcs_descriptor *send)
{
    return (send->flags & BCS_DATA_INLINE) != 0
               ? send->payload
               : ((const struct bcs_block *)nic_view_at(nic_engine_own(engine),
                                                        send->address))
                     ->data;
}

/** The payload has been copied. */
void nic_at_hand_end(struct nic_engine *engine, const struct nic_found *found);

#endif
