/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting, as all API calls do it, turn by turn. Called by the process that owns the
 * context.
 */
#include "libbcs/api/message/wait.h"

#include "libbcs/api/context/context.h"
#include "libbcs/api/message/external.h"
#include "libbcs/api/message/orders.h"
#include "libbcs/api/record/stand_poll.h"
#include "libbcs/api/record/stand_tell.h"
#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/base/system.h"

enum {
    TURNS_IF_CALLED = 4, /* as BCS_TURNS_A_LOOK, while other processes call for it */
    MISSES_A_LOOK = 64,
    FIRST_SLEEP_NS = 50000,    /* where sleeps are short: the first one, */
    LONGEST_SLEEP_NS = 800000, /* and the last one that is not doubled */
};

/** Let other threads use the context, until come_in. */
static void step_out(struct bcs_context *context)
{
    if (context->hooks.turns != NULL) {
        context->hooks.turns->pause();
    }
}

static void come_in(struct bcs_context *context)
{
    if (context->hooks.turns != NULL) {
        context->hooks.turns->resume();
    }
}

/** Look after what is under way besides the engine's work. Not with the engine's lock.
 *  @return whether something is over that the process may wait for */
static bool look_external(struct bcs_context *context)
{
    if (bcs_external_is_needed(context)) {
        step_out(context);
        context->hooks.move_external();
        come_in(context);
    }
    return context->hooks.idle != NULL && context->hooks.idle();
}

/** The same between two turns of a wait, which stays awake if this process is
 *  called. */
static void look_up(struct bcs_context *context, struct bcs_waiter *waiter)
{
    context->n_turns = 0;
    if (bcs_external_listen(context)) {
        context->driver->stop(context->engine, waiter);
    } else if (bcs_external_is_needed(context)) {
        nic_waiter_let_go(context->engine, waiter);
    }
    if (look_external(context)) {
        context->driver->stop(context->engine, waiter); /* it must not sleep now */
    }
    if (context->is_called && nic_engine_is_crowded(context->engine)) {
        bcs_yield();
    }
}

/** How long to sleep at once. */
static uint64_t next_sleep_ns(const struct bcs_context *context,
                              const struct bcs_waiter *waiter)
{
    if (context->n_short_sleeps == 0 && !waiter->has_short_sleeps) {
        return 0;
    }
    if (waiter->sleep_ns == 0) {
        return FIRST_SLEEP_NS;
    }
    return waiter->sleep_ns < LONGEST_SLEEP_NS ? 2 * waiter->sleep_ns
                                               : waiter->sleep_ns;
}

/** The driver's turn. */
static void take_turn(struct bcs_context *context, struct bcs_waiter *waiter)
{
    bool will_sleep = waiter->spell.is_announced;

    if (will_sleep) {
        waiter->sleep_ns = next_sleep_ns(context, waiter);
        step_out(context);
    }
    context->driver->turn(context->engine, waiter);
    if (will_sleep) {
        come_in(context);
        if (!waiter->spell.is_announced) { /* woken by a call, perhaps */
            context->n_turns = BCS_TURNS_A_LOOK;
        }
    }
}

/** Let those in who stand at the door. A thread of this process that waits for room in
 *  the ring must find the engine's lock free. */
static void let_in(struct bcs_context *context, struct bcs_waiter *waiter)
{
    nic_waiter_let_go(context->engine, waiter);
    step_out(context);
    bcs_yield();
    come_in(context);
}

/** Take new orders, and go on with all that the movers have. */
static void move(struct bcs_context *context)
{
    bcs_orders_take(context);
    for (const bcs_mover_fn *mover = context->movers; *mover != NULL; mover++) {
        (*mover)(context);
    }
}

/** This process's part of what is pending beside the operation that a call is about.
 *  One comparison finds whether there is any: n_orders_idle is the number of orders as
 *  long as nothing has to go on. @return whether there is */
static inline bool move_others(struct bcs_context *context)
{
    /* relaxed: bcs_orders_take acquires */
    bool has_work =
        atomic_load_explicit(&context->poster.port->n_orders, memory_order_relaxed) !=
        context->n_orders_idle;

    if (__builtin_expect(has_work, 0)) {
        move(context);
    }
    return has_work;
}

bool bcs_progress(struct bcs_context *context)
{
    bool has_moved = context->driver->progress(context->engine);

    return move_others(context) || has_moved;
}

bool bcs_wait_turn(struct bcs_context *context, struct bcs_waiter *waiter)
{
    if (context->is_moving) { /* the end of the copying is near: stay awake */
        context->is_moving = false;
        waiter->spell.since_ticks = 0;
    }
    if (waiter->spell.is_announced ||
        ++context->n_turns >=
            (context->is_called ? TURNS_IF_CALLED : BCS_TURNS_A_LOOK)) {
        look_up(context, waiter);
        if (bcs_stand_is_due(context, waiter)) {
            return true;
        }
    }
    take_turn(context, waiter);
    move_others(context);
    if (context->hooks.turns != NULL && context->hooks.turns->is_wanted()) {
        let_in(context, waiter);
    }
    return false;
}

/** Whether another process has called since this one has listened. What is read here is
 *  hardly ever written. */
static inline bool is_called_anew(const struct bcs_context *context)
{
    /* relaxed: bcs_external_listen comes next */
    return atomic_load_explicit(&context->engine->machine->called_ns,
                                memory_order_relaxed) != context->heard_ns;
}

void bcs_wait_in_vain(struct bcs_context *context)
{
    /* Where each miss gives the core away, so many of them may take a second. */
    bool is_crowded = nic_engine_is_crowded(context->engine);
    bool is_time = ++context->n_misses % MISSES_A_LOOK == 0 ||
                   (is_crowded && is_called_anew(context));

    if (is_time) {
        bcs_external_listen(context);
        look_external(context);
        bcs_stand_poll(context);
    }
    if (is_crowded || (is_time && nic_engine_has_helpers(context->engine))) {
        bcs_yield();
    }
}

/** The end of a wait that has told where it stands. Apart, so that others keep no
 *  registers for it. */
static __attribute__((cold, noinline)) void stop_long(struct bcs_context *context,
                                                      struct bcs_waiter *waiter)
{
    bcs_stand_withdraw(context, waiter);
    context->driver->stop(context->engine, waiter);
}

void bcs_wait_stop(struct bcs_context *context, struct bcs_waiter *waiter)
{
    if (__builtin_expect(waiter->stand != 0, 0)) {
        stop_long(context, waiter);
        return;
    }
    context->driver->stop(context->engine, waiter);
}

void bcs_wait_sleep_short(struct bcs_context *context)
{
    context->n_short_sleeps++;
}

void bcs_wait_sleep_long(struct bcs_context *context)
{
    context->n_short_sleeps--;
}
