/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the members of a collective must agree on, its signature: kind, kernel, root and
 * length. Each node compares its own members' when they arrive, and the master all
 * nodes' by Compare-And-Write. If they differ the collective is refused: all members
 * end with an error, and one of them says who called what. Called by the collective
 * helper, under the engine lock.
 */
#ifndef NIC_THREADS_ROLES_AGREEMENT_H
#define NIC_THREADS_ROLES_AGREEMENT_H

#include "nic_threads/node/signature.h"

enum nic_agreement { NIC_NOT_ALL_BEGUN, NIC_AGREED, NIC_DISAGREED };

/** Whether local members that have arrived at a slot differ. */
static inline bool nic_agreement_is_mixed(const struct nic_slot *slot)
{
    return nic_signature_is_mixed(slot->gathered_signature);
}

/** Publish this node's signature: all local members of a slot have arrived. */
void nic_agreement_publish(struct nic_slot *slot);

/** At the master: whether all nodes have begun the collective of a slot, with the same
 *  signature. */
enum nic_agreement nic_agreement_ask(struct nic_view *view, uint32_t slot_number);

/** At the master: who disagrees with whom. All nodes have begun. */
struct nic_refusal nic_agreement_refusal(struct nic_view *view, uint32_t slot_number);

/** End the local members of a slot with an error. */
void nic_agreement_refuse(struct nic_view *view, const struct nic_slot *slot,
                          const struct nic_refusal *refusal);

#endif
