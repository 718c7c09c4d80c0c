/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Payloads that do not go into a descriptor just so; see payload.h.
 */
#include "libbcs/api/message/payload.h"

#include "libbcs/api/message/off_node.h"

/** Put the payload to where the receiver has it. @return whether there was room */
static bool land(struct bcs_context *context, const struct bcs_ring_writer *ring,
                 struct bcs_descriptor *entry, const struct bcs_message *message)
{
    const struct bcs_off_node_data data = {.layout = bcs_message_layout(message),
                                           .data = message->data,
                                           .n_bytes = message->n_bytes};

    entry->address = bcs_off_node_land(context, ring, &data);
    if (entry->address == 0) {
        return false;
    }
    entry->flags |= BCS_DATA_BLOCK | BCS_LANDED;
    return true;
}

/** Say when a send was posted; in the job's own space, or onward in a collective. */
static void stamp_send(const struct bcs_context *context, struct bcs_descriptor *entry,
                       const struct bcs_message *message)
{
    entry->flags |= BCS_STAMPED;
    entry->stamp = bcs_message_space(message) == BCS_SPACE_COLLECTIVE
                       ? bcs_stamps_onward(&context->stamps)
                       : bcs_stamps_own(&context->stamps);
}

/** Where the job has stamps: stamp a send, and put its payload into it if there is
 *  still room.
 *  @return whether it went */
static bool put_stamped(const struct bcs_context *context, struct bcs_descriptor *entry,
                        const struct bcs_message *message)
{
    bool fits = message->n_bytes <= BCS_STAMPED_BYTES;

    if (fits) {
        entry->flags = BCS_DATA_INLINE;
        bcs_payload_copy_out(message, entry->payload);
    }
    stamp_send(context, entry, message);
    return fits;
}

/** What is known of copies of a message's length into blocks. @return NULL: it is
 *  copied as it is, for it is short or has gaps */
static struct bcs_payload_copy *copy_of(struct bcs_context *context,
                                        const struct bcs_message *message)
{
    return message->n_bytes >> BCS_PAYLOAD_COPY_SHIFT == 0 ||
                   bcs_message_layout(message) != NULL
               ? NULL
               : &context->payload_copies[bcs_payload_copy_index(message->n_bytes)];
}

/** Put a payload into a block. @return whether there was one */
static bool put_in_block(struct bcs_context *context, struct bcs_descriptor *entry,
                         const struct bcs_message *message)
{
    size_t n_bytes = message->n_bytes;
    struct bcs_payload_copy *copy = copy_of(context, message);
    struct bcs_payload_copy_turn turn = {0};
    uint64_t block;
    void *to;

    if (copy != NULL) {
        turn = bcs_payload_copy_turn(copy);
    }
    block = bcs_poster_block(&context->poster, n_bytes, turn.goes_past ? 0 : n_bytes);
    if (block == 0) {
        return false;
    }
    entry->flags |= BCS_DATA_BLOCK;
    entry->address = block;
    to = bcs_poster_block_at(&context->poster, block)->data;
    if (copy != NULL) {
        bcs_payload_copy(copy, turn, to, message->data, n_bytes);
    } else {
        bcs_payload_copy_out(message, to);
    }
    return true;
}

bool bcs_payload_put_further(struct bcs_context *context,
                             const struct bcs_ring_writer *ring,
                             struct bcs_descriptor *entry,
                             const struct bcs_message *message)
{
    if (__builtin_expect(context->stamps.is_on, 0) &&
        put_stamped(context, entry, message)) {
        return true;
    }
    if (message->n_bytes <= context->config.eager_limit_bytes) {
        if (ring->put_to != 0 && land(context, ring, entry, message)) {
            return true;
        }
        if (put_in_block(context, entry, message)) {
            return true;
        }
    }
    entry->flags |= (bcs_message_layout(message) != NULL ? BCS_LAID_OUT : 0) |
                    (message->will_wait ? BCS_WAITING : 0) |
                    (bcs_message_stays(message) ? BCS_STAYING : 0);
    entry->address = (uint64_t)(uintptr_t)message->data;
    return false;
}
