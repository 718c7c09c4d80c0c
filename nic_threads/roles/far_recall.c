/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Taking a send back from a far receiver; see the header.
 *
 * Each node has a box (struct nic_recall_box) for one question. A sender takes the box
 * by Compare-And-Write, and puts its question there, with the bell. The thread that
 * waits for the bell (nic_threads/service/far_progress.c) takes the send back as a near
 * sender would, puts the answer to the sender's port, and empties the box. So a
 * question stands behind no message, and needs no room on any link or wire.
 *
 * Invariant: whoever has the box writes its question, and nobody else does before the
 * node has emptied it. The send was put before the question, and can be seen: a sender
 * that publishes an entry flushes, and a wire is flushed before its desk is unlocked.
 * So what is not found at the node is received, or taken by a matched probe.
 *
 * A question has a number, and its answer says it, so that an answer whose asker has
 * gone (nic_waiter_abandon) is none to the next question.
 */
#include "nic_threads/roles/far_recall.h"

#include "nic_threads/machine/engine_lock.h"
#include "nic_threads/machine/engine_xfer.h"
#include "nic_threads/node/views.h"
#include "nic_threads/roles/guest.h"
#include "nic_threads/roles/take_back.h"

/** The outcome in an answer. */
static uint64_t outcome_make(uint64_t number, bool is_taken_back)
{
    return number << 1 | is_taken_back;
}

/** Take the box of a node, by this process. @return whether it was free */
static bool take_box(struct nic_view *own, uint32_t node)
{
    const struct bcs_node_set dests = bcs_node_set_one(node);
    const uint64_t asker_gva = NIC_NODE_GVA(own, recall_box.asker);
    const struct bcs_comparison comparison = {
        .variable_gva = asker_gva,
        .op = BCS_COMPARE_EQ,
        .value = 0,
        .dests = &dests,
        .write_gva = asker_gva,
        .write_value = (uint64_t)own->engine->port + 1,
    };

    return nic_engine_compare(own, &comparison);
}

/** Put the question into the box of a node, which is this process's. */
static void put_question(struct nic_view *own, uint32_t node,
                         const struct nic_recall *recall)
{
    const struct bcs_node_set dests = bcs_node_set_one(node);
    const struct nic_recall_question question = {
        .receiver = recall->receiver, .cell = recall->cell, .number = recall->number};
    const struct bcs_xfer xfer = {
        .src = &question,
        .n_bytes = sizeof(question),
        .dest_gva = NIC_NODE_GVA(own, recall_box.question),
        .dests = &dests,
        .remote_event_gva = NIC_NODE_GVA(own, bell),
    };

    nic_engine_xfer(own, &xfer);
    nic_engine_push(own);
}

/** Look for the answer to a question. */
static enum nic_withdrawn find_answer(struct nic_engine *engine,
                                      struct nic_recall *recall)
{
    const struct nic_view *own = nic_engine_own(engine);
    const struct bcs_recalled *recalled =
        &nic_view_port(own, engine->port - own->first_port)->recalled;
    /* acquire: pairs with the put of the answer, whose last word it is */
    uint64_t outcome = __atomic_load_n(&recalled->outcome, __ATOMIC_ACQUIRE);

    if (outcome >> 1 != recall->number) {
        return NIC_WITHDRAWN_NOT_YET;
    }
    engine->open_recall = 0;
    if (outcome != outcome_make(recall->number, true)) {
        return NIC_WITHDRAWN_TOO_LATE;
    }
    recall->block_gva = recalled->block_gva;
    return NIC_WITHDRAWN;
}

enum nic_withdrawn nic_far_recall(struct nic_engine *engine, struct nic_recall *recall)
{
    struct nic_view *own = nic_engine_own(engine);
    uint32_t node = nic_layout_node(&engine->layout, recall->receiver);

    if (recall->number != 0) {
        return find_answer(engine, recall);
    }
    /* else another thread of this process asks */
    if (engine->open_recall == 0 && take_box(own, node)) {
        recall->number = ++engine->n_recalls;
        engine->open_recall = recall->number;
        put_question(own, node, recall);
    }
    return NIC_WITHDRAWN_NOT_YET;
}

/** Put the answer to the process that has asked. */
static void put_answer(struct nic_view *view, const struct nic_recall *recall,
                       bool is_taken_back)
{
    const struct nic_layout *layout = &view->engine->layout;
    const struct bcs_node_set dests =
        bcs_node_set_one(nic_layout_node(layout, recall->sender));
    const struct bcs_recalled answer = {
        .block_gva = recall->block_gva,
        .outcome = outcome_make(recall->number, is_taken_back),
    };
    const struct bcs_xfer xfer = {
        .src = &answer,
        .n_bytes = sizeof(answer),
        .dest_gva = nic_layout_port_gva(layout, recall->sender) +
                    offsetof(struct bcs_port, recalled),
        .dests = &dests,
    };

    nic_engine_xfer(view, &xfer);
    nic_engine_push(view);
}

/** The next one may ask. */
static void empty_box(struct nic_recall_box *box)
{
    /* relaxed: before the release of the box */
    __atomic_store_n(&box->question.number, 0, __ATOMIC_RELAXED);
    /* release: pairs with the Compare-And-Write of who takes it */
    __atomic_store_n(&box->asker, 0, __ATOMIC_RELEASE);
}

bool nic_far_recall_serve(struct nic_view *view)
{
    struct nic_engine *engine = view->engine;
    struct nic_recall_box *box = &view->node->recall_box;
    /* acquire: pairs with the put of the question, whose last word it is */
    struct nic_recall recall = {
        .number = __atomic_load_n(&box->question.number, __ATOMIC_ACQUIRE)};
    enum nic_withdrawn outcome;
    struct nic_view *to;

    if (recall.number == 0) {
        return true;
    }
    recall.sender = (uint32_t)box->asker - 1;
    recall.receiver = box->question.receiver;
    recall.cell = box->question.cell;
    to = nic_engine_desk(engine, nic_layout_desk(&engine->layout, recall.receiver));
    if (!nic_guest_lock(to)) {
        return false;
    }
    outcome = nic_take_back(to, &recall);
    nic_engine_unlock(to);
    nic_guest_make_good(engine); /* there may be room for what was held back */
    if (outcome == NIC_WITHDRAWN_NOT_YET) {
        return false;
    }
    put_answer(view, &recall, outcome == NIC_WITHDRAWN);
    empty_box(box);
    return true;
}
