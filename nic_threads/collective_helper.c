/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective helper: gathers the members of barriers, broadcasts and reductions, asks the
 * other nodes, and broadcasts results; the reduce helper combines the operands. Runs under
 * the node's engine lock. [BCS-MPI section 4.4]
 *
 * Protocol. Each node counts its own members; when all have arrived it raises its global
 * `flag` to the number of the collective. The master is the node of the root (or of rank 0).
 * It asks in MSM by one Compare-And-Write whether all flags are up, and if so the result is
 * put on all nodes in BBM or RM, together with its number. A node's next collective on the
 * slot cannot raise flags before all members have had this result, since its members
 * block; so one result word a slot is enough. Contributions to a reduction travel before
 * the flag, in DEM, on the same wire order as everything else.
 */
#include <string.h>

#include "nic_threads/engine.h"
#include "nic_threads/roles.h"
#include "nic_threads/wire.h"

#define SLOT_NONE UINT32_MAX

static bool is_alone(const struct nic_view *view)
{
    return view->engine->n_nodes == 1;
}

static void open_slot(struct nic_view *view, const struct bcs_descriptor *descriptor)
{
    struct nic_slot *slot = nic_view_slot(view, descriptor->port);
    struct nic_group_members members;

    memcpy(&members, descriptor->payload, sizeof(members));
    if (members.base > slot->members.base) { /* the first local member */
        slot->members = members;
        slot->sequence = members.base + 1;
        slot->n_arrived = 0;
        slot->first_item = NIC_ITEM_NONE;
    }
}

/** The node that leads a collective. */
static uint32_t master_of(const struct nic_view *view,
                          const struct bcs_descriptor *descriptor)
{
    return nic_layout_node(&view->engine->layout, (uint32_t)descriptor->address);
}

/** Send the contributions of this node's members to the master. */
static void send_parts(struct nic_view *view, const struct nic_slot *slot,
                       uint32_t master)
{
    for (uint32_t id = slot->first_item; id != NIC_ITEM_NONE;
         id = view->items[id].next) {
        struct bcs_descriptor part;
        memcpy(&part, &view->items[id].descriptor, sizeof(part));
        part.kind = NIC_WIRE_PART;
        nic_wire_send(view, master, &part, view->items[id].port);
    }
}

/** All local members have arrived: make it known. */
static void local_part_done(struct nic_view *view, uint32_t slot_number)
{
    struct nic_node *node = view->node;
    struct nic_slot *slot = nic_view_slot(view, slot_number);
    const struct bcs_descriptor *any = &view->items[slot->first_item].descriptor;
    uint32_t master = master_of(view, any);

    if (is_alone(view)) {
        node->batch.ready[node->batch.n_ready++] = slot_number;
        return;
    }
    if (any->operation % 4 == BCS_COLLECTIVE_REDUCE && master != view->index) {
        send_parts(view, slot, master);
    }
    slot->next_active = node->first_active;
    node->first_active = slot_number;
    /* release: Compare-And-Write reads it with acquire */
    __atomic_store_n(&slot->flag, slot->sequence, __ATOMIC_RELEASE);
}

static void arrive(struct nic_view *view, const struct nic_posted *posted)
{
    const struct bcs_descriptor *descriptor = nic_posted_descriptor(view, posted);
    struct nic_slot *slot = nic_view_slot(view, descriptor->port);
    uint32_t id = nic_item_new(view, descriptor, posted->port);

    view->items[id].next = slot->first_item;
    slot->first_item = id;
    if (++slot->n_arrived == slot->members.n_local) {
        local_part_done(view, descriptor->port);
    }
}

void nic_collective_helper_exchange(struct nic_view *view)
{
    const struct nic_batch *batch = &view->node->batch;

    for (uint32_t i = 0; i < batch->n_notes; i++) {
        const struct bcs_descriptor *note =
            nic_posted_descriptor(view, &batch->notes[i]);
        if (note->kind == BCS_COLLECTIVE) {
            arrive(view, &batch->notes[i]);
        } else if (note->kind == BCS_GROUP_OPEN) {
            open_slot(view, note);
        }
    }
}

/** Keep the contributions that have come from other nodes. */
static void keep_parts(struct nic_view *view)
{
    const struct nic_batch *batch = &view->node->batch;

    for (uint32_t i = 0; i < batch->n_notes; i++) {
        const struct bcs_descriptor *note =
            nic_posted_descriptor(view, &batch->notes[i]);
        if (note->kind == NIC_WIRE_PART) {
            struct nic_slot *slot = nic_view_slot(view, note->port);
            uint32_t id = nic_item_new(view, note, batch->notes[i].port);
            view->items[id].next =
                slot->parts - 1; /* NIC_ITEM_NONE if there are none */
            slot->parts = id + 1;
        }
    }
}

static bool have_all_begun(struct nic_view *view, uint32_t slot_number)
{
    const struct nic_slot *slot = nic_view_slot(view, slot_number);
    const struct bcs_comparison comparison = {
        .variable_gva =
            nic_view_slot_gva(view, slot_number) + offsetof(struct nic_slot, flag),
        .op = BCS_COMPARE_GE,
        .value = slot->sequence,
        .dests = &slot->members.nodes,
    };

    return nic_engine_compare(view, &comparison);
}

void nic_collective_helper_schedule(struct nic_view *view)
{
    struct nic_batch *batch = &view->node->batch;
    uint32_t number = view->node->first_active;

    keep_parts(view);
    while (number != SLOT_NONE && batch->n_ready < nic_view_limits(view)->collectives) {
        const struct nic_slot *slot = nic_view_slot(view, number);
        const struct bcs_descriptor *any = &view->items[slot->first_item].descriptor;
        if (master_of(view, any) == view->index &&
            slot->result.sequence < slot->sequence && have_all_begun(view, number)) {
            batch->ready[batch->n_ready++] = number;
        }
        number = slot->next_active;
    }
}

/** Whether a member of a collective gets data. */
static bool gets_data(const struct bcs_descriptor *descriptor)
{
    switch (descriptor->operation % 4) {
    case BCS_COLLECTIVE_BCAST:
        return descriptor->source != descriptor->tag;
    case BCS_COLLECTIVE_REDUCE:
        return (descriptor->flags & BCS_TO_ALL) != 0 ||
               descriptor->source == descriptor->tag;
    default:
        return false;
    }
}

static void free_items(struct nic_view *view, uint32_t id)
{
    while (id != NIC_ITEM_NONE) {
        uint32_t next = view->items[id].next;
        nic_item_free(view, id);
        id = next;
    }
}

/** Give a result to the local members and make the slot ready for its next collective. */
static void complete_members(struct nic_view *view, struct nic_slot *slot,
                             const void *result)
{
    for (uint32_t id = slot->first_item; id != NIC_ITEM_NONE;
         id = view->items[id].next) {
        const struct nic_item *item = &view->items[id];
        const struct bcs_descriptor *descriptor = &item->descriptor;
        struct bcs_cell *cell = nic_view_cell(view, item->port, descriptor->cell);
        enum bcs_cell_state state = BCS_CELL_DONE;

        cell->n_bytes = descriptor->n_bytes;
        if (descriptor->n_bytes > 0 && gets_data(descriptor)) {
            memcpy(cell->payload, result, descriptor->n_bytes);
            state = BCS_CELL_INLINE;
        }
        nic_view_complete(view, item->port, cell, state);
    }
    free_items(view, slot->first_item);
    free_items(view, slot->parts - 1);
    slot->first_item = NIC_ITEM_NONE;
    slot->parts = 0;
    slot->n_arrived = 0;
    slot->sequence++;
}

void nic_collective_helper_broadcast(struct nic_view *view, uint32_t slot_number,
                                     const void *result, size_t n_bytes)
{
    struct nic_slot *slot = nic_view_slot(view, slot_number);
    struct nic_result message = {.sequence = slot->sequence};
    const struct bcs_xfer xfer = {
        .src = &message,
        .n_bytes = sizeof(message),
        .dest_gva =
            nic_view_slot_gva(view, slot_number) + offsetof(struct nic_slot, result),
        .dests = &slot->members.nodes,
        .remote_event_gva = NIC_NODE_GVA(view, result_event),
    };

    if (is_alone(view)) {
        complete_members(view, slot, result);
        return;
    }
    if (n_bytes > 0) {
        memcpy(message.payload, result, n_bytes);
    }
    nic_engine_xfer(view, &xfer);
}

/** The data of a collective's root, or of any member of a barrier. */
static const struct bcs_descriptor *root_of(const struct nic_view *view,
                                            const struct nic_slot *slot)
{
    uint32_t id = slot->first_item;

    while (view->items[id].descriptor.tag >= 0 &&
           view->items[id].descriptor.source != view->items[id].descriptor.tag) {
        id = view->items[id].next;
    }
    return &view->items[id].descriptor;
}

void nic_collective_helper_step(struct nic_view *view)
{
    const struct nic_batch *batch = &view->node->batch;

    for (uint32_t i = 0; i < batch->n_ready; i++) {
        const struct nic_slot *slot = nic_view_slot(view, batch->ready[i]);
        if (slot->first_item == NIC_ITEM_NONE ||
            view->items[slot->first_item].descriptor.operation % 4 ==
                BCS_COLLECTIVE_REDUCE) {
            continue;
        }
        const struct bcs_descriptor *root = root_of(view, slot);
        nic_collective_helper_broadcast(view, batch->ready[i], root->payload,
                                        root->n_bytes);
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
    uint32_t *link = &node->first_active;

    if (!nic_collective_helper_has_result(view)) {
        return;
    }
    __atomic_store_n(&node->results_seen,
                     __atomic_load_n(&node->result_event.count, __ATOMIC_ACQUIRE),
                     __ATOMIC_RELAXED);
    while (*link != SLOT_NONE) {
        struct nic_slot *slot = nic_view_slot(view, *link);
        if (__atomic_load_n(&slot->result.sequence, __ATOMIC_ACQUIRE) >=
            slot->sequence) {
            *link = slot->next_active;
            complete_members(view, slot, slot->result.payload);
        } else {
            link = &slot->next_active;
        }
    }
}
