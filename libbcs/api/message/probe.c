/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probes. Called by the process that owns the context, one thread at a time.
 *
 * A probe looks into the queue of its port, where the engine keeps the messages that no
 * receive has got yet. It needs neither the engine nor its lock: only what the process
 * itself posts takes messages out of that queue, so while nothing of that kind is under
 * way the queue only grows (bcs_poster_is_settled). But for what its sender takes back:
 * so a look that may find something holds the queue (nic_match_hold), until it knows
 * all of what it has found, and has posted that it takes it. A receive that has not
 * been carried out may take the message that the probe would find, so nothing is known
 * before it has been: while messages are in the queue, every probe waits for that,
 * since the caller may know of one.
 *
 * For the same reason a message is claimed by a descriptor that nobody waits for: later
 * receives of this process stand behind it in the ring, and later probes wait until it
 * has been carried out.
 *
 * A probe that finds nothing lets the engine take a turn, if processes do so, and looks
 * once more. Only one that waits posts a descriptor, which the engine answers when a
 * message comes.
 */
#include <errno.h>

#include "libbcs/api/message/p2p.h"
#include "libbcs/api/message/post.h"
#include "libbcs/api/message/wait.h"
#include "libbcs/api/record/stand_tell.h"
#include "libbcs/fabric/base/system.h"

/** Say what a probe has found. */
static void report(const struct bcs_descriptor *send, struct bcs_result *result_out)
{
    *result_out = (struct bcs_result){
        .source = send->source, .tag = send->tag, .n_bytes = (size_t)send->n_bytes};
}

/** A probe has found what has such a stamp, where the job has stamps. */
static inline void note_stamp(struct bcs_context *context, uint64_t stamp)
{
    if (context->stamps.is_on) {
        bcs_stamps_note(&context->stamps, stamp, BCS_STAMP_CAUSE_SENDER);
    }
}

static inline const struct nic_view *home_of(const struct bcs_context *context)
{
    return nic_engine_own(context->engine);
}

/** This process's queue of messages. */
static inline struct nic_match *queue_of(const struct bcs_context *context)
{
    const struct nic_view *view = home_of(context);

    return &view->per_port.match[nic_view_seat(view, context->engine->port)];
}

/** Whether something has been posted that may take messages, and will be carried out
 *  whatever anybody does: unless it stands behind a send for which there is no room. */
static bool is_in_motion(const struct bcs_context *context)
{
    const struct nic_view *view = home_of(context);

    return !bcs_poster_is_settled(&context->poster) &&
           !nic_ring_is_held_back(view, bcs_port_ring(context->poster.port));
}

/** Wait until it is known which messages are left. @return whether it is */
static bool settle(struct bcs_context *context)
{
    struct bcs_waiter waiter = {.has_short_sleeps = true};

    while (is_in_motion(context)) {
        if (bcs_wait_turn(context, &waiter)) {
            bcs_stand_at_other(context, &waiter);
        }
    }
    bcs_wait_stop(context, &waiter);
    return bcs_poster_is_settled(&context->poster);
}

/** Whether there may be a message, and, unless the caller will wait anyhow, all are
 *  known that there are. */
static inline bool may_find(struct bcs_context *context, bool wait)
{
    return nic_match_n_sends(queue_of(context)) != 0 &&
           (bcs_poster_is_settled(&context->poster) || (!wait && settle(context)));
}

/** The oldest message in the queue, which is held, that a receive would take. @return
 *  its item, or NIC_ITEM_NONE */
static inline uint32_t find(struct bcs_context *context,
                            const struct bcs_message *message)
{
    return nic_match_find_send(
        queue_of(context), &home_of(context)->items,
        &(struct bcs_descriptor){
            .context_id = message->group->context_id + bcs_message_space(message),
            .source = message->peer,
            .tag = message->tag,
        });
}

/** Look for a message in the queue, which is held. @param claim an entry to post that
 *  takes it, or NULL @return whether there is one */
static inline bool look_held(struct bcs_context *context,
                             const struct bcs_message *message,
                             struct bcs_descriptor *claim,
                             struct bcs_result *result_out, uint32_t *item_out)
{
    uint32_t item = find(context, message);
    const struct bcs_descriptor *send;

    if (item == NIC_ITEM_NONE) {
        return false;
    }
    send = &nic_view_item(home_of(context), item)->descriptor;
    report(send, result_out);
    note_stamp(context, send->stamp);
    *item_out = item;
    if (claim != NULL) {
        claim->address = item;
        bcs_post_publish(context, bcs_post_own(context), claim);
    }
    return true;
}

/** Look for a message, and take it if need be. @return whether there is one */
static inline bool look(struct bcs_context *context, const struct bcs_message *message,
                        bool is_taking, bool wait, struct bcs_result *result_out,
                        uint32_t *item_out)
{
    struct bcs_ring_writer *ring = bcs_post_own(context);
    struct bcs_descriptor *claim = NULL;
    bool has_found;

    if (!may_find(context, wait)) {
        return false;
    }
    if (is_taking) { /* first: it may wait for room */
        claim = bcs_post_begin(context, ring, BCS_CLAIM);
    }
    while (!nic_match_hold(queue_of(context))) {
        bcs_yield(); /* a sender takes its message back */
    }
    has_found = look_held(context, message, claim, result_out, item_out);
    nic_match_let_go(queue_of(context));
    if (has_found && is_taking) {
        context->driver->kick(context->engine, ring->reader);
    }
    return has_found;
}

/** Have the engine tell when there is a message. @return 0 or -ENOMEM */
static int wait_for_one(struct bcs_context *context, const struct bcs_message *message,
                        bool is_taking, struct bcs_result *result_out,
                        uint32_t *item_out)
{
    struct bcs_ring_writer *ring = bcs_post_own(context);
    struct bcs_descriptor *entry = bcs_post_begin(context, ring, BCS_PROBE);
    struct bcs_waiter waiter = {0};
    const struct bcs_cell *cell;
    uint32_t id = bcs_post_cell(context);

    if (id == BCS_CELL_NONE) {
        return bcs_post_no_cell(context);
    }
    entry->flags = is_taking ? BCS_TAKE : 0;
    entry->context_id = message->group->context_id + bcs_message_space(message);
    entry->source = message->peer;
    entry->tag = message->tag;
    entry->cell = id;
    bcs_ring_publish(ring, entry);
    cell = bcs_poster_cell_at(&context->poster, id);
    while (bcs_cell_state(cell) == BCS_CELL_PENDING) {
        if (bcs_wait_turn(context, &waiter)) {
            bcs_stand_at_message(context, &waiter, BCS_STAND_PROBE, message, id);
        }
    }
    bcs_wait_stop(context, &waiter);
    *result_out = (struct bcs_result){
        .source = cell->source, .tag = cell->tag, .n_bytes = cell->n_bytes};
    *item_out = (uint32_t)cell->address;
    note_stamp(context, cell->stamp);
    bcs_poster_free_cell(&context->poster, id);
    return 0;
}

static inline int probe(struct bcs_context *context, const struct bcs_message *message,
                        bool is_taking, bool wait, struct bcs_result *result_out,
                        uint32_t *item_out)
{
    if (!bcs_message_is_receivable(message)) {
        return bcs_message_refuse("bcs_probe", message);
    }
    if (look(context, message, is_taking, wait, result_out, item_out)) {
        return 0;
    }
    if (wait) {
        return wait_for_one(context, message, is_taking, result_out, item_out);
    }
    if (bcs_progress(context) &&
        look(context, message, is_taking, wait, result_out, item_out)) {
        return 0;
    }
    bcs_wait_in_vain(context);
    return BCS_E_PENDING;
}

int bcs_api_probe(struct bcs_context *context, const struct bcs_message *message,
                  bool wait, struct bcs_result *result_out)
{
    uint32_t item;

    return probe(context, message, false, wait, result_out, &item);
}

int bcs_mprobe(struct bcs_context *context, const struct bcs_message *message,
               bool wait, struct bcs_result *result_out, uint32_t *item_out)
{
    return probe(context, message, true, wait, result_out, item_out);
}
