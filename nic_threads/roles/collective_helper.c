/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective helper: gathers the members of barriers, broadcasts and reductions, asks
 * the other nodes, and broadcasts results; the reduce helper combines the operands.
 * Runs under the desk's engine lock. [BCS-MPI section 4.4]
 *
 * Protocol. Each node counts its own members; when all have arrived it raises its
 * global `flag` to the number of the collective. The master is the node of member 0.
 * Before the flag, in DEM, the others send it the data that it needs as parts: the
 * operands of a reduction, the root's data of a broadcast. It asks in MSM by one
 * Compare-And-Write whether all flags are up and all mean the same collective
 * (agreement.c), and if so, and if all parts have come, the result is put on all nodes
 * in BBM or RM, together with its number.
 *
 * The flag says that the parts have been sent, not that they are here: they may wait in
 * an outbox, in the wire, or for room in the batch. So the master counts them. A part
 * carries the number of its collective. A node's next collective on the slot cannot
 * raise flags or send parts before all nodes have got this result, since members block
 * until it has come, which is at END, on all nodes; so one result word a slot is
 * enough, and no part is early. The master may open the slot later than others, and
 * finds parts of its first collective then.
 */
#include <assert.h>
#include <string.h>

#include "nic_threads/machine/engine_xfer.h"
#include "nic_threads/machine/wire.h"
#include "nic_threads/node/completing.h"
#include "nic_threads/node/items.h"
#include "nic_threads/roles/agreement.h"
#include "nic_threads/roles/roles.h"

static bool is_alone(const struct nic_view *view)
{
    return view->engine->n_nodes == 1;
}

static void open_slot(struct nic_view *view, const struct bcs_descriptor *descriptor)
{
    struct nic_slot *slot = nic_view_slot(view, descriptor->port);
    struct nic_group_piece opening;
    uint64_t first_word, n_words;

    memcpy(&opening, descriptor->payload, sizeof(opening));
    n_words = bcs_node_words(opening.members.n_nodes);
    if (opening.members.base > slot->members.base) { /* the first local member */
        slot->members = opening.members;
        slot->sequence = opening.members.base + 1;
        slot->n_arrived = 0;
        slot->first_item = NIC_ITEM_NONE;
    }
    first_word = (uint64_t)opening.piece * NIC_PIECE_WORDS;
    for (uint64_t i = 0; i < NIC_PIECE_WORDS && first_word + i < n_words; i++) {
        slot->marks[first_word + i] = opening.marks[i];
    }
}

/** Whether a member's data are needed where the result is made. */
static bool has_part(const struct bcs_descriptor *descriptor)
{
    return nic_is_reduction(descriptor) ||
           (nic_collective_kind(descriptor) == BCS_COLLECTIVE_BCAST &&
            descriptor->source == descriptor->tag);
}

/** Send the parts of this node's members to the master. */
static void send_parts(struct nic_view *view, const struct nic_slot *slot)
{
    for (uint32_t id = slot->first_item; id != NIC_ITEM_NONE;
         id = nic_view_item(view, id)->next) {
        struct bcs_descriptor part = nic_view_item(view, id)->descriptor;

        if (has_part(&part)) {
            part.kind = NIC_WIRE_PART;
            part.address = slot->sequence;
            nic_wire_send(view, slot->members.master, &part,
                          nic_view_item(view, id)->port);
        }
    }
}

/** At the master: how many parts must come from other nodes. */
static uint32_t n_parts_of_others(const struct nic_view *view,
                                  const struct nic_slot *slot)
{
    const struct bcs_descriptor *any =
        &nic_view_item(view, slot->first_item)->descriptor;
    uint32_t n_all = nic_is_reduction(any)
                         ? slot->members.n_members
                         : nic_collective_kind(any) == BCS_COLLECTIVE_BCAST;
    uint32_t n_own = 0;

    for (uint32_t id = slot->first_item; id != NIC_ITEM_NONE;
         id = nic_view_item(view, id)->next) {
        n_own += has_part(&nic_view_item(view, id)->descriptor);
    }
    return n_all - n_own;
}

/** Whether the job has stamps. */
static bool has_stamps(const struct nic_view *view)
{
    return view->engine->config->record.has_stamps != 0;
}

/** Let the master know when the last one of this node's members has come; at the
 *  master: how many other nodes will. */
static void send_stamp(struct nic_view *view, uint32_t slot_number)
{
    struct nic_slot *slot = nic_view_slot(view, slot_number);
    const struct bcs_node_set nodes = nic_slot_nodes(slot);
    const struct bcs_descriptor control = {
        .kind = NIC_WIRE_STAMP,
        .port = slot_number,
        .address = slot->sequence,
        .stamp = slot->stamp,
    };

    if (slot->members.master == view->index) {
        slot->n_stamps_wanted = bcs_node_set_count(&nodes) - 1;
    } else {
        nic_wire_send(view, slot->members.master, &control, view->engine->port);
    }
}

static void append_active(struct nic_view *view, uint32_t slot_number)
{
    struct nic_list *active = &view->node->active;

    nic_view_slot(view, slot_number)->next_active = NIC_ITEM_NONE;
    if (active->first == NIC_ITEM_NONE) {
        active->first = slot_number;
    } else {
        nic_view_slot(view, active->last)->next_active = slot_number;
    }
    active->last = slot_number;
}

/** The collective of a slot is carried out in this slice. */
static void add_ready(struct nic_batch *batch, uint32_t slot_number)
{
    assert(batch->n_ready < BCS_BATCH_MOST);
    batch->ready[batch->n_ready++] = slot_number;
}

/** All local members have arrived: make it known. */
static void local_part_done(struct nic_view *view, uint32_t slot_number)
{
    struct nic_slot *slot = nic_view_slot(view, slot_number);

    if (is_alone(view)) {
        slot->is_refused = nic_agreement_is_mixed(slot);
        add_ready(&view->desk->batch, slot_number);
        return;
    }
    if (slot->members.master != view->index) {
        send_parts(view, slot);
    } else {
        slot->n_parts_wanted = n_parts_of_others(view, slot);
    }
    if (has_stamps(view)) {
        send_stamp(view, slot_number);
    }
    append_active(view, slot_number);
    nic_agreement_publish(slot);
}

static void arrive(struct nic_view *view, const struct nic_posted *posted)
{
    const struct bcs_descriptor *descriptor = nic_posted_descriptor(view, posted);
    struct nic_slot *slot = nic_view_slot(view, descriptor->port);
    uint32_t id = nic_item_new(view, descriptor, posted->port);
    uint64_t signature = nic_signature(descriptor);

    if (slot->first_item == NIC_ITEM_NONE) {
        slot->gathered_signature = signature;
    } else if (__builtin_expect(signature != slot->gathered_signature, 0)) {
        slot->gathered_signature =
            nic_signature_join(signature, slot->gathered_signature);
    }
    if (has_stamps(view)) {
        slot->stamp = bcs_stamp_later(slot->stamp, descriptor->address);
    }
    nic_view_item(view, id)->next = slot->first_item;
    slot->first_item = id;
    if (++slot->n_arrived == slot->members.n_local) {
        local_part_done(view, descriptor->port);
    }
}

void nic_collective_helper_exchange(struct nic_view *view)
{
    const struct nic_batch *batch = &view->desk->batch;

    for (uint32_t i = 0; i < batch->n_controls; i++) {
        const struct bcs_descriptor *control =
            nic_posted_descriptor(view, &batch->controls[i]);
        if (control->kind == BCS_COLLECTIVE) {
            arrive(view, &batch->controls[i]);
        } else if (control->kind == BCS_GROUP_OPEN) {
            open_slot(view, control);
        }
    }
}

/** Keep a part that has come from another node, unless it is of a collective that has
 *  been refused before it came. One of a collective to come is for a slot that is to be
 *  opened. */
static void keep_part(struct nic_view *view, const struct nic_posted *posted)
{
    const struct bcs_descriptor *part = nic_posted_descriptor(view, posted);
    struct nic_slot *slot = nic_view_slot(view, part->port);
    uint32_t id;

    if (part->address < slot->sequence) {
        return;
    }
    id = nic_item_new(view, part, posted->port);
    nic_view_item(view, id)->next =
        slot->parts - 1; /* NIC_ITEM_NONE if there are none */
    slot->parts = id + 1;
    slot->n_parts++;
}

/** The same of a stamp. */
static void keep_stamp(struct nic_view *view, const struct bcs_descriptor *control)
{
    struct nic_slot *slot = nic_view_slot(view, control->port);

    if (control->address >= slot->sequence) {
        slot->stamp = bcs_stamp_later(slot->stamp, control->stamp);
        slot->n_stamps++;
    }
}

static void keep_parts(struct nic_view *view)
{
    const struct nic_batch *batch = &view->desk->batch;

    for (uint32_t i = 0; i < batch->n_controls; i++) {
        const struct bcs_descriptor *control =
            nic_posted_descriptor(view, &batch->controls[i]);

        if (control->kind == NIC_WIRE_PART) {
            keep_part(view, &batch->controls[i]);
        } else if (control->kind == NIC_WIRE_STAMP) {
            keep_stamp(view, control);
        }
    }
}

/** Whether this node is the master of the collective of a slot, and can carry it out,
 *  or refuse it. */
static bool is_ready(struct nic_view *view, uint32_t slot_number)
{
    struct nic_slot *slot = nic_view_slot(view, slot_number);

    if (slot->members.master != view->index ||
        slot->result.sequence >= slot->sequence) {
        return false;
    }
    switch (nic_agreement_ask(view, slot_number)) {
    case NIC_AGREED:
        return slot->n_parts == slot->n_parts_wanted &&
               slot->n_stamps == slot->n_stamps_wanted;
    case NIC_DISAGREED:
        slot->is_refused = true;
        return true;
    default:
        return false;
    }
}

void nic_collective_helper_schedule(struct nic_view *view)
{
    struct nic_node *node = view->node;
    struct nic_desk *desk = view->desk;
    struct nic_batch *batch = &desk->batch;
    uint32_t n_most = nic_view_limits(view)->collectives;
    uint32_t number = node->active.first;

    keep_parts(view);
    for (; number != NIC_ITEM_NONE && batch->n_ready < n_most;
         number = nic_view_slot(view, number)->next_active) {
        if (is_ready(view, number)) {
            add_ready(batch, number);
        }
    }
    /* relaxed: read without the lock; then the next round is demanded */
    __atomic_store_n(&node->has_more_ready, number != NIC_ITEM_NONE, __ATOMIC_RELAXED);
}

/** Whether a member of a collective gets data. */
static bool gets_data(const struct bcs_descriptor *descriptor)
{
    switch (nic_collective_kind(descriptor)) {
    case BCS_COLLECTIVE_BCAST:
        return descriptor->source != descriptor->tag;
    case BCS_COLLECTIVE_REDUCE:
    case BCS_COLLECTIVE_ALLGATHER:
        return (descriptor->flags & BCS_TO_ALL) != 0 ||
               descriptor->source == descriptor->tag;
    default:
        return false;
    }
}

static void free_items(struct nic_view *view, uint32_t id)
{
    while (id != NIC_ITEM_NONE) {
        uint32_t next = nic_view_item(view, id)->next;
        nic_item_free(view, id);
        id = next;
    }
}

/** Make a slot ready for its next collective. */
static void renew(struct nic_view *view, struct nic_slot *slot)
{
    free_items(view, slot->first_item);
    free_items(view, slot->parts - 1);
    slot->first_item = NIC_ITEM_NONE;
    slot->parts = 0;
    slot->n_parts = 0;
    slot->n_arrived = 0;
    slot->n_stamps = 0;
    slot->stamp = BCS_STAMP_NONE;
    slot->is_refused = false;
    slot->sequence++;
}

/** Give a result to the local members, and the latest stamp of all. */
static void complete_members(struct nic_view *view, struct nic_slot *slot,
                             const void *result, uint64_t stamp)
{
    for (uint32_t id = slot->first_item; id != NIC_ITEM_NONE;
         id = nic_view_item(view, id)->next) {
        const struct nic_item *item = nic_view_item(view, id);
        const struct bcs_descriptor *descriptor = &item->descriptor;
        struct bcs_cell *cell = nic_view_cell(view, item->port, descriptor->cell);
        enum bcs_cell_state state = BCS_CELL_DONE;

        cell->n_bytes = descriptor->n_bytes;
        cell->address = stamp;
        if (descriptor->n_bytes > 0 && gets_data(descriptor)) {
            memcpy(cell->payload, result, descriptor->n_bytes);
            state = BCS_CELL_INLINE;
        }
        nic_view_complete(view, item->port, descriptor->cell, cell, state);
    }
    renew(view, slot);
}

/** Put a result to all nodes of a slot. */
static void put_result(struct nic_view *view, uint32_t slot_number,
                       const struct nic_result *result)
{
    const struct bcs_node_set nodes = nic_slot_nodes(nic_view_slot(view, slot_number));
    const struct bcs_xfer xfer = {
        .src = result,
        .n_bytes = sizeof(*result),
        .dest_gva =
            nic_view_slot_gva(view, slot_number) + offsetof(struct nic_slot, result),
        .dests = &nodes,
        .remote_event_gva = NIC_NODE_GVA(view, result_event),
    };

    nic_engine_xfer(view, &xfer);
}

void nic_collective_helper_broadcast(struct nic_view *view, uint32_t slot_number,
                                     const void *result, size_t n_bytes)
{
    struct nic_slot *slot = nic_view_slot(view, slot_number);
    struct nic_result message = {.sequence = slot->sequence, .stamp = slot->stamp};

    if (is_alone(view)) {
        complete_members(view, slot, result, slot->stamp);
        return;
    }
    if (n_bytes > 0) {
        memcpy(message.payload, result, n_bytes);
    }
    put_result(view, slot_number, &message);
}

static void refuse_members(struct nic_view *view, struct nic_slot *slot,
                           const void *refusal)
{
    nic_agreement_refuse(view, slot, refusal);
    renew(view, slot);
}

/** The result of all nodes has come. */
static void take_result(struct nic_view *view, struct nic_slot *slot)
{
    if (slot->result.is_refused) {
        refuse_members(view, slot, slot->result.payload);
    } else {
        complete_members(view, slot, slot->result.payload, slot->result.stamp);
    }
}

/** Let all members know that they differ. */
static void refuse(struct nic_view *view, uint32_t slot_number)
{
    struct nic_slot *slot = nic_view_slot(view, slot_number);
    struct nic_refusal refusal = nic_agreement_refusal(view, slot_number);
    struct nic_result message = {.sequence = slot->sequence, .is_refused = 1};

    if (is_alone(view)) {
        refuse_members(view, slot, &refusal);
        return;
    }
    memcpy(message.payload, &refusal, sizeof(refusal));
    put_result(view, slot_number, &message);
}

/** The first of a chain of items that holds the root's data. */
static uint32_t find_root(const struct nic_view *view, uint32_t id)
{
    while (id != NIC_ITEM_NONE && nic_view_item(view, id)->descriptor.source !=
                                      nic_view_item(view, id)->descriptor.tag) {
        id = nic_view_item(view, id)->next;
    }
    return id;
}

/** What the members of a barrier or broadcast get. */
static const struct bcs_descriptor *root_of(const struct nic_view *view,
                                            const struct nic_slot *slot)
{
    uint32_t id = slot->first_item;

    if (nic_collective_kind(&nic_view_item(view, id)->descriptor) ==
        BCS_COLLECTIVE_BCAST) {
        id = find_root(view, slot->first_item);
        id = id == NIC_ITEM_NONE ? find_root(view, slot->parts - 1) : id;
        assert(id != NIC_ITEM_NONE);
    }
    return &nic_view_item(view, id)->descriptor;
}

void nic_collective_helper_step(struct nic_view *view)
{
    const struct nic_batch *batch = &view->desk->batch;

    for (uint32_t i = 0; i < batch->n_ready; i++) {
        const struct nic_slot *slot = nic_view_slot(view, batch->ready[i]);

        if (__builtin_expect(slot->is_refused, 0)) {
            refuse(view, batch->ready[i]);
        } else if (!nic_is_reduction(
                       &nic_view_item(view, slot->first_item)->descriptor)) {
            const struct bcs_descriptor *root = root_of(view, slot);

            nic_collective_helper_broadcast(view, batch->ready[i], root->payload,
                                            root->n_bytes);
        }
    }
}

bool nic_collective_helper_has_result(const struct nic_view *view)
{
    /* acquire: pairs with the signal that follows the put of the result */
    return __atomic_load_n(&view->node->result_event.count, __ATOMIC_ACQUIRE) !=
           __atomic_load_n(&view->node->results_seen, __ATOMIC_RELAXED);
}

void nic_collective_helper_finish(struct nic_view *view)
{
    struct nic_node *node = view->node;
    uint32_t number = node->active.first;

    if (!nic_collective_helper_has_result(view)) {
        return;
    }
    __atomic_store_n(&node->results_seen,
                     __atomic_load_n(&node->result_event.count, __ATOMIC_ACQUIRE),
                     __ATOMIC_RELAXED);
    node->active = (struct nic_list){NIC_ITEM_NONE, NIC_ITEM_NONE};
    while (number != NIC_ITEM_NONE) {
        struct nic_slot *slot = nic_view_slot(view, number);
        uint32_t next = slot->next_active;

        if (__atomic_load_n(&slot->result.sequence, __ATOMIC_ACQUIRE) >=
            slot->sequence) {
            take_result(view, slot);
        } else {
            append_active(view, number);
        }
        number = next;
    }
}
