/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Driver `inline`: a process that waits runs the engine itself. Called by every process
 * of the job, with its own engine.
 *
 * Polling. While there are no more processes awake than cores, a waiter that gets the
 * engine lock of a node that is alone keeps it and polls all ports; the others poll only
 * their own completion cell, and take the lock over when it has been free for a moment
 * (the last holder at once: its cache has the engine's state). When it is crowded, nobody
 * holds the lock while polling, and polling is short.
 *
 * Parking. A waiter announces itself (`naps` odd, n_asleep + 1, both seq_cst), then turns
 * the engine once more and looks at its completion, and only then sleeps on `naps`. A
 * process that posts publishes first (seq_cst) and then looks at n_asleep: if it sees
 * nobody, the announcement comes later in the one order, and the announcer's own look at
 * the rings sees the post. If it sees somebody, it turns the engine itself. A process that
 * completes a cell of another one looks at its `naps` after a seq_cst fence or store:
 * either it is odd and it wakes, or the announcer sees the completion.
 */
#include <sched.h>
#include <stdatomic.h>

#include "libbcs/base/clock.h"
#include "nic_threads/driver.h"
#include "nic_threads/roles.h"

enum {
    GRACE_POLLS = 40,      /* before a free lock is taken from its last holder */
    CROWDED_POLLS = 20,    /* before yielding when it is crowded */
    CROWDED_YIELDS = 2,    /* before sleeping */
    POLLS_A_CLOCK = 64,      /* polls between two looks at the clock */
    PREEMPTED_TICKS = 100000, /* a longer gap between two such looks: another ran here */
};

static struct bcs_port *own_port(const struct nic_engine *engine)
{
    const struct nic_view *home = &engine->views[engine->home];

    return nic_view_port(home, engine->port - home->first_port);
}

static bool is_crowded(const struct nic_engine *engine)
{
    uint32_t n_asleep =
        atomic_load_explicit(&engine->machine->n_asleep, memory_order_relaxed);

    return engine->layout.shape.n_ports > engine->machine->n_cpus + n_asleep;
}

static void release_lock(struct nic_engine *engine, struct nic_waiter *waiter)
{
    if (waiter->holds_lock) {
        waiter->holds_lock = false;
        nic_engine_unlock(&engine->views[0]);
        nic_engine_turn(engine); /* what was posted while others could not lock */
    }
}

/** Mark this process as asleep; see the parking argument. */
static void announce(struct nic_engine *engine, struct nic_waiter *waiter)
{
    release_lock(engine, waiter);
    waiter->is_announced = true;
    waiter->nap = bcs_port_announce(own_port(engine));
    atomic_fetch_add_explicit(&engine->machine->n_asleep, 1, memory_order_seq_cst);
    nic_engine_turn(engine);
}

static void take_back(struct nic_engine *engine, struct nic_waiter *waiter)
{
    waiter->is_announced = false;
    if (engine->is_threaded) { /* another thread may sleep on the same word */
        bcs_port_wake(own_port(engine));
    } else {
        bcs_port_retract(own_port(engine));
    }
    atomic_fetch_sub_explicit(&engine->machine->n_asleep, 1, memory_order_relaxed);
    waiter->n_polls = 0;
    waiter->n_yields = 0;
    waiter->since_ticks = 0;
}

static void sleep_now(struct nic_engine *engine, struct nic_waiter *waiter)
{
    bcs_port_sleep(own_port(engine), waiter->nap);
    take_back(engine, waiter);
}

/** Wake whom the step has completed something for, without unlocking. */
static void wake_others(const struct nic_engine *engine, struct nic_view *view)
{
    uint32_t local = engine->port - view->first_port;
    uint64_t any = 0;

    if (!engine->is_threaded) { /* else another thread of this process may sleep */
        view->wake.words[local / 64] &= ~(UINT64_C(1) << (local % 64));
    }
    for (int i = 0; i < BCS_MAX_PORTS_A_NODE / 64; i++) {
        any |= view->wake.words[i];
    }
    if (any != 0) {
        atomic_thread_fence(memory_order_seq_cst);
        nic_engine_wake(view);
    }
}

/** Poll a node that is alone: step it if this process has, or can now have, its lock. */
static void poll_alone(struct nic_engine *engine, struct nic_waiter *waiter)
{
    struct nic_view *view = &engine->views[0];

    if (!waiter->holds_lock &&
        atomic_load_explicit(&view->node->lock, memory_order_relaxed) == 0 &&
        (waiter->n_polls > GRACE_POLLS ||
         atomic_load_explicit(&view->node->last_holder, memory_order_relaxed) ==
             engine->port)) {
        waiter->holds_lock = nic_engine_try_lock(view);
    }
    if (!waiter->holds_lock) {
        bcs_clock_pause();
        return;
    }
    if (nic_strobe_receiver_run_alone(view)) {
        waiter->n_polls = 1;
        wake_others(engine, view);
    }
}

/** Whether it is time to stop polling. */
static bool is_tired(struct nic_engine *engine, struct nic_waiter *waiter)
{
    uint64_t now;

    if (waiter->n_polls % POLLS_A_CLOCK != 0) {
        return false;
    }
    now = bcs_clock_ticks();
    if (waiter->since_ticks == 0) {
        waiter->since_ticks = now;
    } else if (now - waiter->last_ticks > PREEMPTED_TICKS || is_crowded(engine)) {
        waiter->is_crowded = true;
    }
    waiter->last_ticks = now;
    return now - waiter->since_ticks > engine->spin_ticks;
}

static void inline_turn(struct nic_engine *engine, struct nic_waiter *waiter)
{
    if (waiter->is_announced) {
        sleep_now(engine, waiter);
        return;
    }
    if (waiter->n_polls == 0) {
        waiter->is_crowded = is_crowded(engine);
    }
    if (waiter->is_crowded) {
        release_lock(engine, waiter);
        nic_engine_turn(engine);
        if (++waiter->n_polls < CROWDED_POLLS) {
            bcs_clock_pause();
        } else if (waiter->n_yields++ < CROWDED_YIELDS) {
            sched_yield();
        } else {
            announce(engine, waiter);
        }
        return;
    }
    if (engine->n_nodes == 1) {
        poll_alone(engine, waiter);
    } else if (!nic_engine_turn(engine)) {
        bcs_clock_pause();
    }
    if (is_tired(engine, waiter)) {
        announce(engine, waiter);
    }
    waiter->n_polls++;
}

static void inline_stop(struct nic_engine *engine, struct nic_waiter *waiter)
{
    release_lock(engine, waiter);
    if (waiter->is_announced) {
        take_back(engine, waiter);
    }
}

static void inline_kick(struct nic_engine *engine)
{
    /* seq_cst: partner of the announcement; the post was published before */
    if (atomic_load_explicit(&engine->machine->n_asleep, memory_order_seq_cst) > 0) {
        nic_engine_turn(engine);
    }
}

const struct nic_driver_ops nic_driver_inline = {
    .name = "inline",
    .kick = inline_kick,
    .turn = inline_turn,
    .stop = inline_stop,
};

const struct nic_driver_ops *nic_driver_find(const struct nic_config *config)
{
    static const struct nic_driver_ops *const drivers[] = {
        [NIC_DRIVER_INLINE] = &nic_driver_inline,
    };

    return drivers[config->driver];
}
