/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arrival handlers. They run from bcs_channels_poll only, in the thread that has called it, for
 * the ends of that thread. [Low Latency Messages, section 4: interrupts of the FIFOs]
 */
#include <errno.h>

#include "libbcs/base/log.h"
#include "libbcs/channel/channel.h"

/** Whether the end of a message is among what is unread. */
static bool has_end(struct bcs_channel_in *in)
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
    return false;
}

static bool is_due(struct channel_in *in)
{
    struct bcs_channel_in *inlined = &in->inlined;

    switch (in->when) {
    case BCS_CHANNEL_ARRIVAL:
        return bcs_channel_has_record(inlined, inlined->record_bytes);
    case BCS_CHANNEL_BEGIN:
        return bcs_channel_has_record(inlined, inlined->record_bytes) &&
               bcs_channel_is_end(inlined);
    case BCS_CHANNEL_END:
        return has_end(inlined);
    case BCS_CHANNEL_IF_HALF:
        return bcs_channel_status_in(inlined) >= BCS_CHANNEL_HALF;
    default:
        return false;
    }
}

int bcs_channel_set_handler(struct bcs_channel_in *in, enum bcs_channel_when when,
                            bcs_channel_handler_fn handler, void *arg)
{
    struct channel_in *state = channel_in_of(in);

    if (!pthread_equal(state->end.owner, pthread_self())) {
        return channel_end_check(&state->end, "bcs_channel_set_handler");
    }
    if ((unsigned)when > BCS_CHANNEL_IF_HALF) {
        bcs_error("bcs_channel_set_handler: condition %d; allowed are %d to %d",
                  (int)when, BCS_CHANNEL_NEVER, BCS_CHANNEL_IF_HALF);
        return -EINVAL;
    }
    state->when = handler == NULL ? BCS_CHANNEL_NEVER : when;
    state->handler = handler;
    state->handler_arg = arg;
    return 0;
}

/** Take the right to poll. */
static int begin(struct channels *channels)
{
    int rc = 0;

    if (channels_is_in_handler(channels)) {
        bcs_error("bcs_channels_poll: called in a handler");
        return -EDEADLK;
    }
    pthread_mutex_lock(&channels->lock);
    if (channels->is_polling) {
        rc = -EBUSY;
    } else {
        /* Both pair with the loads of channels_is_in_handler. */
        __atomic_store_n(&channels->poller, pthread_self(), __ATOMIC_RELAXED);
        __atomic_store_n(&channels->is_polling, true, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&channels->lock);
    if (rc < 0) {
        bcs_error("bcs_channels_poll: called by two threads at once");
    }
    return rc;
}

/** The first end that is to be polled, after one or of all: this thread's, with a handler. */
static struct channel_in *find_polled(struct channels *channels,
                                      struct channel_in *after)
{
    struct channel_in *found = NULL;
    struct channel_end *end;

    pthread_mutex_lock(&channels->lock);
    end = after == NULL ? channels->ends : after->end.next;
    for (; end != NULL && found == NULL; end = end->next) {
        if (end->side == CHANNEL_IN && pthread_equal(end->owner, pthread_self()) &&
            channel_in_of_end(end)->when != BCS_CHANNEL_NEVER) {
            found = channel_in_of_end(end);
        }
    }
    pthread_mutex_unlock(&channels->lock);
    return found;
}

int channels_poll(struct channels *channels)
{
    int n_called = 0, rc = begin(channels);
    struct channel_in *in;

    if (rc < 0) {
        return rc;
    }
    in = find_polled(channels, NULL);
    while (in != NULL) {
        if (is_due(in)) {
            in->handler(&in->inlined, in->handler_arg);
            n_called++;
        }
        in = find_polled(channels, in);
    }
    /* As in begin. */
    __atomic_store_n(&channels->is_polling, false, __ATOMIC_RELEASE);
    return n_called;
}
