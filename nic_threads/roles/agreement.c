/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Do all members mean the same collective? When a node's members have all arrived, it
 * publishes two global words: `flag`, the number of the collective, and `signature`, on
 * which its members agree, together with the low bits of that number. One query for
 * equal `signature` then says that all have begun and agree: a node is at most one
 * collective behind, so that its old word has other low bits. It may have any in the
 * first collective of a group, as the word may be of an earlier group that used the
 * slot: there the query for the flags comes first.
 */
#include "nic_threads/roles/agreement.h"

#include <string.h>

#include "nic_threads/machine/engine_xfer.h"
#include "nic_threads/node/completing.h"

/** The word that a node publishes. */
static uint64_t word_of(const struct nic_slot *slot)
{
    return slot->sequence << NIC_SIGNATURE_BITS | slot->gathered_signature;
}

void nic_agreement_publish(struct nic_slot *slot)
{
    /* release: Compare-And-Write reads both with acquire */
    __atomic_store_n(&slot->signature, word_of(slot), __ATOMIC_RELEASE);
    __atomic_store_n(&slot->flag, slot->sequence, __ATOMIC_RELEASE);
}

/** Compare a word of a slot on some of its nodes. */
static bool compare(struct nic_view *view, uint64_t word_gva, enum bcs_compare op,
                    uint64_t value, const struct bcs_node_set *nodes)
{
    const struct bcs_comparison comparison = {
        .variable_gva = word_gva, .op = op, .value = value, .dests = nodes};

    return nic_engine_compare(view, &comparison);
}

/** The same on all nodes of a slot's members. */
static bool compare_all(struct nic_view *view, const struct nic_slot *slot,
                        uint64_t word_gva, enum bcs_compare op, uint64_t value)
{
    const struct bcs_node_set nodes = nic_slot_nodes(slot);

    return compare(view, word_gva, op, value, &nodes);
}

static uint64_t flag_gva(const struct nic_view *view, uint32_t slot_number)
{
    return nic_view_slot_gva(view, slot_number) + offsetof(struct nic_slot, flag);
}

static uint64_t signature_gva(const struct nic_view *view, uint32_t slot_number)
{
    return nic_view_slot_gva(view, slot_number) + offsetof(struct nic_slot, signature);
}

static bool have_all_begun(struct nic_view *view, uint32_t slot_number)
{
    const struct nic_slot *slot = nic_view_slot(view, slot_number);

    return compare_all(view, slot, flag_gva(view, slot_number), BCS_COMPARE_GE,
                       slot->sequence);
}

enum nic_agreement nic_agreement_ask(struct nic_view *view, uint32_t slot_number)
{
    const struct nic_slot *slot = nic_view_slot(view, slot_number);
    bool is_first = slot->sequence == slot->members.base + 1;

    if (is_first && !have_all_begun(view, slot_number)) {
        return NIC_NOT_ALL_BEGUN;
    }
    if (!nic_agreement_is_mixed(slot) &&
        compare_all(view, slot, signature_gva(view, slot_number), BCS_COMPARE_EQ,
                    word_of(slot))) {
        return NIC_AGREED;
    }
    return is_first || have_all_begun(view, slot_number) ? NIC_DISAGREED
                                                         : NIC_NOT_ALL_BEGUN;
}

/** The local member of the lowest rank, whose signature is not that of `but`. */
static const struct nic_item *lowest_member(const struct nic_view *view,
                                            const struct nic_slot *slot, uint64_t but)
{
    const struct nic_item *lowest = NULL;

    for (uint32_t id = slot->first_item; id != NIC_ITEM_NONE;
         id = nic_view_item(view, id)->next) {
        const struct nic_item *item = nic_view_item(view, id);

        if (nic_signature(&item->descriptor) != but &&
            (lowest == NULL || item->descriptor.source < lowest->descriptor.source)) {
            lowest = item;
        }
    }
    return lowest;
}

/** A node whose signature is not this one's; this one, if its members differ. */
static uint32_t find_other(struct nic_view *view, uint32_t slot_number)
{
    const struct nic_slot *slot = nic_view_slot(view, slot_number);
    const struct bcs_node_set nodes = nic_slot_nodes(slot);
    uint32_t node = bcs_node_set_next(&nodes, 0);

    while (!nic_agreement_is_mixed(slot) && node != BCS_NODE_NONE) {
        const struct bcs_node_set one = bcs_node_set_one(node);

        if (!compare(view, signature_gva(view, slot_number), BCS_COMPARE_EQ,
                     word_of(slot), &one)) {
            return node;
        }
        node = bcs_node_set_next(&nodes, node + 1);
    }
    return view->index;
}

/** Whether all nodes' signatures differ in the length alone. */
static bool differ_in_length(struct nic_view *view, uint32_t slot_number)
{
    const struct nic_slot *slot = nic_view_slot(view, slot_number);
    uint64_t gva = signature_gva(view, slot_number);
    uint64_t longest = word_of(slot) | NIC_SIGNATURE_LENGTH;

    if (view->engine->n_nodes == 1) {
        return slot->gathered_signature != NIC_SIGNATURE_MIXED;
    }
    return slot->gathered_signature != NIC_SIGNATURE_MIXED &&
           compare_all(view, slot, gva, BCS_COMPARE_LT, longest + 1) &&
           compare_all(view, slot, gva, BCS_COMPARE_GE, longest - NIC_SIGNATURE_LENGTH);
}

struct nic_refusal nic_agreement_refusal(struct nic_view *view, uint32_t slot_number)
{
    const struct nic_slot *slot = nic_view_slot(view, slot_number);
    const struct nic_item *member = lowest_member(view, slot, NIC_SIGNATURE_MIXED);

    return (struct nic_refusal){
        .sequence = slot->sequence,
        .signature = nic_signature(&member->descriptor),
        .rank = member->descriptor.source,
        .node = find_other(view, slot_number),
        .is_length_only = differ_in_length(view, slot_number),
    };
}

void nic_agreement_refuse(struct nic_view *view, const struct nic_slot *slot,
                          const struct nic_refusal *refusal)
{
    struct nic_refusal known = *refusal;

    if (refusal->node == view->index) {
        const struct nic_item *other = lowest_member(view, slot, refusal->signature);

        known.other_signature = nic_signature(&other->descriptor);
        known.other_rank = other->descriptor.source;
    }
    for (uint32_t id = slot->first_item; id != NIC_ITEM_NONE;
         id = nic_view_item(view, id)->next) {
        const struct nic_item *item = nic_view_item(view, id);
        struct bcs_cell *cell = nic_view_cell(view, item->port, item->descriptor.cell);

        memcpy(cell->payload, &known, sizeof(known));
        nic_view_complete(view, item->port, item->descriptor.cell, cell,
                          BCS_CELL_REFUSED);
    }
}
