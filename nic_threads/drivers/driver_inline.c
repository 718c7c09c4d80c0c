/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Driver `inline` with strobes on demand: a process that waits runs the engine itself.
 * Called by every process of the job, with its own engine.
 *
 * Polling. While there are no more processes awake than cores, a waiter keeps the lock
 * of its own desk and polls there; now and then it also looks at the desks of others
 * where it has something under way (pending_desks.h), if nobody has their locks, and at
 * the rounds of the nodes; each time, while it takes part in a collective of several
 * nodes. If somebody wants the own desk's lock, the waiter lets go of it there, and
 * leaves it alone until the next such look: else who tries it now and then, to take a
 * send back (guest.h), might never find it free. When it is crowded, nobody holds a
 * lock while polling, and after a few polls a waiter yields its core, and soon sleeps.
 *
 * Patience. A waiter polls, for some time without letting anybody else have its core,
 * then yielding it between polls, and sleeps after BCS_SPIN. A wake-up costs much more
 * than a poll, and on a virtual machine even a process that computes is slower after
 * its core was idle. Meanwhile processes of other jobs may need the core, or the one
 * that is waited for stands in this very core's queue: hence the yielding.
 *
 * Parking. A waiter announces itself (n_asleep + 1, `park` odd, both seq_cst), then
 * turns the engine once more and looks at its completion, and only then sleeps on
 * `park`. A process that posts publishes first (seq_cst) and then looks at n_asleep,
 * and, where the port that reads it has a desk of its own, at that one's `park`: if it
 * sees nobody, the announcement comes later in the one order, and the announcer's own
 * look at its rings and links sees the post. If it sees somebody, it turns the engine
 * itself; and so it does if it has announced itself, since what a waiter posts when it
 * looks once more (the end of a chunk that it has copied, a step of a plan) comes
 * behind its last turn. A process that completes a cell of another one looks at its
 * `park` after a seq_cst fence or store: either it is odd and it wakes, or the
 * announcer sees the completion. What waits at a desk whose owner does not sleep waits
 * for it, or for who has posted it: a message that nobody waits for, or, with `leave`,
 * for the background thread. What the runner of a desk puts to one of another node
 * (link.h) waits for nobody: it turns that desk as well, after it has unlocked or
 * stepped its own (turn.c).
 *
 * Far nodes. What is put at a desk of a far node is told by the bell of that node, with
 * the put or after it, and a thread there turns the desks of its machine
 * (nic_threads/service/far_progress.c). So nobody here has to look whether anybody
 * sleeps there.
 */
#include <stdatomic.h>

#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/base/patience.h"
#include "libbcs/fabric/base/system.h"
#include "nic_threads/drivers/driver.h"
#include "nic_threads/machine/engine_lock.h"
#include "nic_threads/machine/engine_xfer.h"
#include "nic_threads/node/views.h"
#include "nic_threads/roles/roles.h"
#include "nic_threads/roles/turn.h"

enum {
    POLLS_A_VISIT = 16, /* polls between two looks at the desks of others */
    POLLS_A_CLOCK = 64, /* polls between two looks at the clock */
    CROWDED_POLLS = 5,  /* polls before each yield, if it is crowded */
    CROWDED_YIELDS = 4, /* at least, before sleeping */
};

/** Mark this process as asleep; see the parking argument. */
static void announce(struct nic_engine *engine, struct bcs_waiter *waiter)
{
    nic_waiter_let_go(engine, waiter);
    nic_waiter_announce(engine, waiter);
    nic_engine_turn(engine);
}

/** Wake whom the step has completed something for, without unlocking. */
static void wake_others(const struct nic_engine *engine, struct nic_view *view)
{
    uint32_t local = engine->port - view->first_port;
    uint64_t any = 0;

    if (!engine->is_threaded) { /* else another thread of this process may sleep */
        view->wake[local / 64] &= ~(UINT64_C(1) << (local % 64));
    }
    for (uint32_t i = 0; i < view->n_words; i++) {
        any |= view->wake[i];
    }
    if (any != 0) {
        atomic_thread_fence(memory_order_seq_cst);
        nic_engine_wake(view);
    }
}

/** Whether somebody has tried the lock of the own desk in vain since it was locked. */
static inline bool is_wanted(const struct nic_view *view)
{
    /* relaxed: who takes something away there (guest.h) tries again */
    return (atomic_load_explicit(&view->desk->lock, memory_order_relaxed) &
            NIC_LOCK_IS_MISSED) != 0;
}

/** Whether this poll looks at more than the own desk. */
static inline bool is_visit(const struct bcs_waiter *waiter)
{
    return waiter->spell.n_looks % POLLS_A_VISIT == POLLS_A_VISIT - 1;
}

/** Poll the own desk: step it if this process has, or can now have, its lock. */
static void poll_own(struct nic_engine *engine, struct bcs_waiter *waiter)
{
    struct nic_view *view = nic_engine_own(engine);

    if (!waiter->holds_lock) {
        if (waiter->gives_way && !is_visit(waiter)) {
            bcs_clock_pause();
            return;
        }
        waiter->gives_way = false;
        if (!nic_engine_try_lock(view)) {
            if (engine->poller != NULL && !engine->is_threaded) {
                nic_waiter_let_go(engine,
                                  engine->poller); /* this wait is within that one */
            }
            bcs_clock_pause(); /* a helper has it, or a thread of this process */
            return;
        }
        waiter->holds_lock = true;
        engine->poller = waiter;
    }
    if (nic_strobe_receiver_run_alone(view) != NIC_CARRIED_NOTHING) {
        waiter->spell.n_looks = 1;
        wake_others(engine, view);
        nic_engine_visit(engine);
    }
    if (engine->is_in_round || is_visit(waiter)) {
        nic_engine_turn_others(engine);
        if (is_wanted(view)) {
            waiter->gives_way = true;
            nic_waiter_let_go(engine, waiter);
        }
    }
}

/** More processes are awake than cores: let the others have this one, then sleep. */
static enum bcs_wait_step turn_crowded(struct nic_engine *engine,
                                       struct bcs_waiter *waiter)
{
    nic_waiter_let_go(engine, waiter);
    nic_engine_turn(engine);
    return bcs_spell_look(&waiter->spell, &(const struct bcs_patience){
                                              .n_a_halt = CROWDED_POLLS,
                                              .n_yields = CROWDED_YIELDS,
                                              .sleep_ticks = engine->spin_ticks,
                                          });
}

/** Every process that is awake has a core: poll, then sleep. A poll that finds nothing
 *  pauses by itself. */
static enum bcs_wait_step turn_calm(struct nic_engine *engine,
                                    struct bcs_waiter *waiter)
{
    poll_own(engine, waiter);
    return bcs_spell_look(&waiter->spell, &(const struct bcs_patience){
                                              .n_at_once = UINT32_MAX,
                                              .n_a_halt = POLLS_A_CLOCK,
                                              .yield_ticks = engine->spin_ticks,
                                              .sleep_ticks = engine->stay_ticks,
                                          });
}

static void inline_turn(struct nic_engine *engine, struct bcs_waiter *waiter)
{
    enum bcs_wait_step step;

    if (waiter->spell.is_announced) {
        nic_waiter_sleep(engine, waiter);
        return;
    }
    if (__builtin_expect(nic_engine_has_network(engine), 0)) {
        nic_engine_progress(engine, waiter->holds_lock && !waiter->is_crowded);
    }
    if (waiter->spell.n_looks == 0) {
        waiter->is_crowded = nic_engine_is_crowded(engine);
    }
    step =
        waiter->is_crowded ? turn_crowded(engine, waiter) : turn_calm(engine, waiter);
    if (__builtin_expect(step == BCS_WAIT_LOOK, 1)) {
        return;
    }
    if (step == BCS_WAIT_ANNOUNCE) {
        announce(engine, waiter);
        return;
    }
    if (step == BCS_WAIT_YIELD) {
        nic_waiter_let_go(engine, waiter);
        bcs_yield();
    }
    waiter->is_crowded = nic_engine_is_crowded(engine);
}

static void inline_stop(struct nic_engine *engine, struct bcs_waiter *waiter)
{
    nic_waiter_let_go(engine, waiter);
    if (waiter->spell.is_announced) {
        nic_waiter_take_back(engine, waiter);
    }
}

/** Whether the owner of the port of a desk sleeps or is about to, after something was
 *  published for it. */
static bool is_parked(const struct nic_engine *engine, uint32_t desk)
{
    const struct nic_view *view = nic_engine_desk(engine, desk);

    return bcs_park_is_announced(&nic_view_port(view, view->first_served)->park);
}

/** Whether work at a desk is not its owner's: there is none, or it is not awake, or it
 *  is this process or works for it. */
static bool is_ours(const struct nic_engine *engine, uint32_t desk)
{
    return desk == engine->own || !nic_engine_desk(engine, desk)->is_alone ||
           is_parked(engine, desk) || is_parked(engine, engine->own);
}

static void inline_kick(struct nic_engine *engine, uint32_t reader)
{
    /* seq_cst: partner of the announcement; the post was published before */
    if (atomic_load_explicit(&engine->machine->n_asleep, memory_order_seq_cst) == 0) {
        return;
    }
    if (!nic_is_linked(engine)) {
        nic_engine_turn(engine);
    } else if (nic_engine_is_near_desk(engine, reader) && is_ours(engine, reader)) {
        nic_engine_turn_at(engine, reader);
    }
}

static void inline_leave(struct nic_engine *engine, uint32_t reader)
{
    if (nic_engine_is_near_desk(engine, reader) &&
        !nic_engine_tell_holder(nic_engine_desk(engine, reader))) {
        nic_engine_watch(engine);
    }
}

/** If a helper has the own desk, wait until it lets go, which is soon: what it has
 *  taken from a ring or a link is known then. Another thread of this process that polls
 *  there takes all at once.
 *  @return whether there was one */
static bool await_helper(const struct nic_engine *engine)
{
    const _Atomic uint32_t *lock = &nic_engine_own(engine)->desk->lock;
    const struct bcs_patience policy = {.n_a_halt = POLLS_A_CLOCK,
                                        .sleep_ticks = BCS_PATIENCE_ENDLESS};
    struct bcs_spell spell = {0};

    /* pairs with the release of what was taken: its taker's lock is seen, too */
    atomic_thread_fence(memory_order_acquire);
    /* acquire: pairs with the exchange in nic_engine_unlock */
    while (engine->poller == NULL &&
           atomic_load_explicit(lock, memory_order_acquire) != 0) {
        if (bcs_spell_look(&spell, &policy) == BCS_WAIT_YIELD) {
            bcs_yield();
        }
    }
    return spell.n_looks > 0;
}

static bool inline_progress(struct nic_engine *engine)
{
    if (__builtin_expect(nic_engine_has_network(engine), 0)) {
        nic_engine_progress(engine, false);
    }
    do {
        nic_engine_turn(engine);
    } while (nic_is_linked(engine) && await_helper(engine));
    return true; /* a helper may have done it before the turn */
}

static void inline_wait_for_room(struct nic_engine *engine, struct bcs_waiter *waiter,
                                 uint32_t reader)
{
    bool has_done;

    (void)waiter;
    /* A wait that goes on with plans and orders may keep the lock, and they post,
     * too. */
    if (engine->poller != NULL) {
        nic_waiter_let_go(engine, engine->poller);
    }
    has_done = nic_engine_turn(engine);
    /* Another process may hold the lock; it has work, so it is not asleep. */
    if (!nic_engine_turn_at(engine, reader) && !has_done) {
        bcs_yield();
    }
}

/** inline_turn where slices are recorded. */
static void recorded_turn(struct nic_engine *engine, struct bcs_waiter *waiter)
{
    if (waiter->spell.n_looks == 0) {
        nic_waiter_show(engine, true);
    }
    inline_turn(engine, waiter);
}

static void recorded_stop(struct nic_engine *engine, struct bcs_waiter *waiter)
{
    nic_waiter_show(engine, false);
    inline_stop(engine, waiter);
}

const struct nic_driver_ops nic_driver_inline = {
    .name = "inline",
    .serves = NIC_SERVES(NIC_SERVE_BACKGROUND) | NIC_SERVES_ALWAYS,
    .takes_at_hand = true,
    .kick = inline_kick,
    .leave = inline_leave,
    .progress = inline_progress,
    .wait_for_room = inline_wait_for_room,
    .turn = inline_turn,
    .stop = inline_stop,
};

const struct nic_driver_ops nic_driver_inline_recorded = {
    .name = "inline",
    .serves = NIC_SERVES(NIC_SERVE_BACKGROUND) | NIC_SERVES_ALWAYS,
    .kick = inline_kick,
    .leave = inline_leave,
    .progress = inline_progress,
    .wait_for_room = inline_wait_for_room,
    .turn = recorded_turn,
    .stop = recorded_stop,
};
