/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arrival handlers: setting them, for either who runs them, and running them from
 * bcs_channels_poll, in the thread that has called it, for the ends of that thread.
 * [Low Latency Messages, section 4: interrupts of the FIFOs]
 */
#include <errno.h>

#include "libbcs/channel/channel_calls.h"
#include "libbcs/channel/channel_state.h"
#include "libbcs/fabric/base/log.h"

/** Check what both kinds of setting take. */
static int check(const struct channel_in *in, enum bcs_channel_when when,
                 const char *caller)
{
    bool is_own = pthread_equal(in->end.owner, pthread_self());

    /* A handler may set its own. */
    if (!is_own || (in->helped != NULL && channels_is_in_handler(in->end.channels))) {
        return channel_end_check(&in->end, caller);
    }
    if ((unsigned)when > BCS_CHANNEL_IF_HALF) {
        bcs_error("%s: condition %d; allowed are %d to %d", caller, (int)when,
                  BCS_CHANNEL_NEVER, BCS_CHANNEL_IF_HALF);
        return -EINVAL;
    }
    return 0;
}

int channels_call_channel_set_handler(struct bcs_channel_in *in,
                                      enum bcs_channel_when when,
                                      bcs_channel_handler_fn handler, void *arg)
{
    struct channel_in *state = channel_in_of(in);
    int rc = check(state, when, "bcs_channel_set_handler");

    rc = rc < 0 ? rc : channel_helper_take_back(state);
    if (rc < 0) {
        return rc;
    }
    state->when = handler == NULL ? BCS_CHANNEL_NEVER : when;
    state->handler = handler;
    state->handler_arg = arg;
    return 0;
}

int channels_call_channel_set_helper(struct bcs_channel_in *in,
                                     enum bcs_channel_when when,
                                     bcs_channel_handler_fn handler, void *arg)
{
    struct channel_in *state = channel_in_of(in);
    int rc = channel_end_check(&state->end, "bcs_channel_set_helper");

    rc = rc < 0 ? rc : check(state, when, "bcs_channel_set_helper");
    if (rc == 0 && bcs_forked_is_child()) {
        bcs_forked_tell("bcs_channel_set_helper");
        rc = -EPERM;
    }
    rc = rc < 0 ? rc : channel_helper_take_back(state);
    if (rc < 0 || when == BCS_CHANNEL_NEVER || handler == NULL) {
        return rc;
    }
    return channel_helper_give(state, when, handler, arg);
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

/** The first end that is to be polled, after one or of all: this thread's, with a
 *  handler. */
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
        if (channel_in_is_due(in)) {
            in->handler(&in->inlined, in->handler_arg);
            n_called++;
        }
        in = find_polled(channels, in);
    }
    /* As in begin. */
    __atomic_store_n(&channels->is_polling, false, __ATOMIC_RELEASE);
    return n_called;
}
