/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether the handler of a channel is to be called. By the thread that runs it.
 * [Low Latency Messages, section 4: interrupts of the FIFOs]
 */
#include "libbcs/channel/channel_state.h"

/** Whether the end of a message is among what is unread; or the channel is full, so
 * that no end can come before something is received. */
static bool has_end_or_is_full(struct bcs_channel_in *in)
{
    uint64_t mark;

    if (!bcs_channel_has_record(in, in->record_bytes)) {
        return false;
    }
    for (uint64_t i = 0; i < in->n_blocks - in->n_left; i++) {
        mark = bcs_channel_mark_ahead(in, i);
        if (i == 0) {
            mark &= ~(((UINT64_C(1) << in->n_read) - 1) << 8); /* what was read */
        }
        if ((mark >> 8 & 0xff) != 0) {
            return true;
        }
        if ((mark & BCS_CHANNEL_COUNT) < bcs_channel_per_block(in->record_bytes)) {
            return false;
        }
    }
    return true; /* all that its writer may write is full */
}

bool channel_in_is_due(struct channel_in *in)
{
    struct bcs_channel_in *inlined = &in->inlined;

    switch (in->when) {
    case BCS_CHANNEL_ARRIVAL:
        return bcs_channel_has_record(inlined, inlined->record_bytes);
    case BCS_CHANNEL_BEGIN:
        return bcs_channel_has_record(inlined, inlined->record_bytes) &&
               bcs_channel_is_end(inlined);
    case BCS_CHANNEL_END:
        return has_end_or_is_full(inlined);
    case BCS_CHANNEL_IF_HALF:
        return bcs_channel_status_in(inlined) >= BCS_CHANNEL_HALF;
    default:
        return false;
    }
}
