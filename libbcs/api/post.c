/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting, as all API calls do it: for room in the ring and for completions. Called by the
 * process that owns the context.
 */
#include "libbcs/api/post.h"

#include <sched.h>

enum { TURNS_AN_IDLE = 128 };

struct bcs_descriptor *bcs_post_wait_for_entry(struct bcs_context *context)
{
    struct nic_waiter waiter = {0};
    struct bcs_descriptor *entry;

    while ((entry = bcs_poster_entry(&context->poster)) == NULL) {
        context->driver->wait_for_room(context->engine, &waiter);
    }
    context->driver->stop(context->engine, &waiter);
    return entry;
}

/** The driver's turn; while it sleeps, other threads may use the context. */
static void take_turn(struct bcs_context *context, struct nic_waiter *waiter)
{
    bool will_sleep = waiter->is_announced && context->pause != NULL;

    if (will_sleep) {
        context->pause();
    }
    context->driver->turn(context->engine, waiter);
    if (will_sleep) {
        context->resume();
    }
}

/** Move what is not ours. @return whether this process must stay awake for it */
static bool look_around(struct bcs_context *context, struct nic_waiter *waiter)
{
    if (context->pause != NULL) { /* other threads may come in */
        nic_waiter_let_go(context->engine, waiter);
    }
    return context->idle();
}

/** Let those in who stand at the door. A thread of this process that waits for room in the
 *  ring must find the engine's lock free. */
static void let_in(struct bcs_context *context, struct nic_waiter *waiter)
{
    nic_waiter_let_go(context->engine, waiter);
    context->pause();
    sched_yield();
    context->resume();
}

void bcs_wait_turn(struct bcs_context *context, struct nic_waiter *waiter)
{
    if (context->is_moving) { /* the end of the copying is near: stay awake */
        context->is_moving = false;
        waiter->since_ticks = 0;
    }
    bool may_look = waiter->is_announced || ++waiter->n_turns % TURNS_AN_IDLE == 0;

    if (may_look && context->idle != NULL && look_around(context, waiter)) {
        context->driver->stop(context->engine, waiter); /* it must stay awake */
        context->driver->progress(context->engine);
        sched_yield();
    } else {
        take_turn(context, waiter);
    }
    bcs_post_progress(context);
    if (context->is_wanted != NULL && context->is_wanted()) {
        let_in(context, waiter);
    }
}
