/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probes. Called by the process that owns the context, one thread at a time.
 *
 * A probe looks into the queue of its port, where the engine keeps the messages that no
 * receive has got yet. It needs neither the engine nor its lock: only what the process itself
 * posts takes messages out of that queue, so while nothing of that kind is under way the queue
 * only grows (bcs_poster_is_settled). A receive that has not been carried out may take the
 * message that the probe would find, so nothing is known before it has been.
 *
 * For the same reason a message is claimed by a descriptor that nobody waits for: later
 * receives of this process stand behind it in the ring, and later probes wait until it has
 * been carried out.
 *
 * A probe that finds nothing lets the engine take a turn, if processes do so, and looks once
 * more. Only one that waits posts a descriptor, which the engine answers when a message comes.
 */
#include <errno.h>

#include "libbcs/api/p2p.h"
#include "libbcs/api/post.h"

/** Say what a probe has found. */
static void report(const struct bcs_descriptor *send, struct bcs_result *result_out)
{
    *result_out = (struct bcs_result){
        .source = send->source, .tag = send->tag, .n_bytes = (size_t)send->n_bytes};
}

/** The oldest message in the queue that a receive would take. @return its item, or
 *  NIC_ITEM_NONE: none is known */
static inline uint32_t find(const struct bcs_context *context,
                            const struct bcs_message *message)
{
    const struct nic_engine *engine = context->engine;
    const struct nic_view *view = &engine->views[engine->home];
    const struct nic_match *match = &view->node->match[engine->port - view->first_port];

    if (nic_match_n_sends(match) == 0 || !bcs_poster_is_settled(&context->poster)) {
        return NIC_ITEM_NONE;
    }
    return nic_match_find_send(
        match, view->items,
        &(struct bcs_descriptor){
            .context_id = message->group->context_id + message->space,
            .source = message->peer,
            .tag = message->tag,
        });
}

/** Take a message that has been found out of the queue. @return whether the ring has room */
static bool claim(struct bcs_context *context, uint32_t item)
{
    struct bcs_descriptor *entry = bcs_poster_entry(&context->poster);

    if (entry == NULL) {
        return false;
    }
    entry->kind = BCS_CLAIM;
    entry->flags = 0;
    entry->address = item;
    bcs_post_kick(context, entry);
    return true;
}

/** Look for a message, and take it if need be. @return whether there is one */
static inline bool look(struct bcs_context *context, const struct bcs_message *message,
                        bool is_taking, struct bcs_result *result_out,
                        uint32_t *item_out)
{
    const struct nic_engine *engine = context->engine;
    uint32_t item = find(context, message);

    if (item == NIC_ITEM_NONE || (is_taking && !claim(context, item))) {
        return false;
    }
    /* a message that has been claimed stays in its item until it is received */
    report(&engine->views[engine->home].items[item].descriptor, result_out);
    *item_out = item;
    return true;
}

/** Have the engine tell when there is a message. @return 0 or -ENOMEM */
static int wait_for_one(struct bcs_context *context, const struct bcs_message *message,
                        bool is_taking, struct bcs_result *result_out,
                        uint32_t *item_out)
{
    struct bcs_descriptor *entry = bcs_post_begin(context, BCS_PROBE);
    struct nic_waiter waiter = {0};
    const struct bcs_cell *cell;
    uint32_t id = bcs_poster_cell(&context->poster);

    if (id == BCS_CELL_NONE) {
        return bcs_post_no_cell(context);
    }
    entry->flags = is_taking ? BCS_TAKE : 0;
    entry->context_id = message->group->context_id + message->space;
    entry->source = message->peer;
    entry->tag = message->tag;
    entry->cell = id;
    bcs_post_end(context, entry);
    cell = &context->poster.cells[id];
    while (bcs_cell_state(cell) == BCS_CELL_PENDING) {
        bcs_wait_turn(context, &waiter);
    }
    bcs_wait_stop(context, &waiter);
    *result_out = (struct bcs_result){
        .source = cell->source, .tag = cell->tag, .n_bytes = cell->n_bytes};
    *item_out = (uint32_t)cell->address;
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
    if (look(context, message, is_taking, result_out, item_out)) {
        return 0;
    }
    if (wait) {
        return wait_for_one(context, message, is_taking, result_out, item_out);
    }
    if (bcs_progress(context) &&
        look(context, message, is_taking, result_out, item_out)) {
        return 0;
    }
    bcs_wait_in_vain(context);
    return BCS_E_PENDING;
}

int bcs_probe(struct bcs_context *context, const struct bcs_message *message, bool wait,
              struct bcs_result *result_out)
{
    uint32_t item;

    return probe(context, message, false, wait, result_out, &item);
}

int bcs_mprobe(struct bcs_context *context, const struct bcs_message *message,
               bool wait, struct bcs_result *result_out, uint32_t *item_out)
{
    return probe(context, message, true, wait, result_out, item_out);
}
