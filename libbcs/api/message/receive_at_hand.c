/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receiving a message that is at hand; see the header. Called by the process that owns
 * the context.
 *
 * Whatever a wait moves on beside its own request must go on for a process that finds
 * each of its messages at hand, too. So it takes none while a cell of its is in use, by
 * an operation that is not over, or a mover has something to do; and every so many
 * messages it waits, for the looks at what is not ours (wait.c).
 */
#include "libbcs/api/message/receive_at_hand.h"

#include "libbcs/api/message/request_fetch.h"
#include "libbcs/api/message/wait.h"
#include "libbcs/fabric/base/layout.h"
#include "nic_threads/drivers/take_at_hand.h"

/* A message counts as so many turns of a wait, since it takes about as long. */
enum { TURNS_A_MESSAGE = 4 };

/** Whether this process has nothing under way. */
static inline bool has_nothing_pending(const struct bcs_context *context)
{
    const struct bcs_poster *poster = &context->poster;

    /* relaxed: as in move_others of wait.c */
    return poster->n_free_cells == poster->n_cells_touched &&
           atomic_load_explicit(&poster->port->n_orders, memory_order_relaxed) ==
               context->n_orders_idle;
}

static inline bool may_take(struct bcs_context *context)
{
    const struct nic_engine *engine = context->engine;

    return context->driver->takes_at_hand && context->links != NULL &&
           !engine->is_threaded && has_nothing_pending(context) &&
           context->n_turns < BCS_TURNS_A_LOOK && !context->is_called;
}

static void store(const struct bcs_message *message, const void *data, size_t n_bytes)
{
    const struct bcs_layout *layout = bcs_message_layout(message);

    if (__builtin_expect(layout == NULL, 1)) {
        bcs_copy_short(message->data, data, n_bytes);
    } else {
        bcs_layout_unpack(layout, data, 0, n_bytes, message->data);
    }
}

/** The payload of a send that is in a block, or has a stamp, of which note is taken. */
static __attribute__((noinline)) const void *
find_further(struct bcs_context *context, const struct bcs_descriptor *send)
{
    if ((send->flags & BCS_STAMPED) != 0) {
        bcs_stamps_note(&context->stamps, send->stamp, BCS_STAMP_CAUSE_SENDER);
    }
    return nic_at_hand_data(context->engine, send);
}

bool bcs_take_at_hand(struct bcs_context *context, const struct bcs_message *message,
                      struct bcs_result *result_out)
{
    struct nic_engine *engine = context->engine;
    const struct bcs_descriptor *send;
    struct nic_found found;
    const void *data;
    struct nic_wish wish;
    bool is_truncated;

    if (!may_take(context)) {
        return false;
    }
    wish = (struct nic_wish){
        .context_id = message->group->context_id + bcs_message_space(message),
        .source = message->peer,
        .tag = message->tag,
    };
    if (!nic_at_hand_begin(engine, &wish,
                           message->peer < 0 ? context->port
                                             : message->group->ports[message->peer],
                           &found)) {
        return false;
    }
    send = found.send;
    context->n_turns += TURNS_A_MESSAGE;
    context->n_at_hand++;
    is_truncated = send->n_bytes > message->n_bytes;
    *result_out = (struct bcs_result){
        .source = send->source,
        .tag = send->tag,
        .n_bytes = is_truncated ? message->n_bytes : send->n_bytes,
    };
    if (__builtin_expect(is_truncated, 0)) {
        bcs_result_truncate(result_out, send->n_bytes);
    }
    data = __builtin_expect(send->flags == BCS_DATA_INLINE, 1)
               ? send->payload
               : find_further(context, send);
    store(message, data, result_out->n_bytes);
    nic_at_hand_end(engine, &found);
    return true;
}
