/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The waiting and parking that drivers share. Called by every process of the job, with
 * its own engine.
 */
#include "nic_threads/drivers/waiting.h"

#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/base/system.h"
#include "nic_threads/machine/cores.h"
#include "nic_threads/machine/engine_lock.h"
#include "nic_threads/machine/engine_xfer.h"
#include "nic_threads/machine/waking.h"
#include "nic_threads/node/referee_wake.h"
#include "nic_threads/node/views.h"
#include "nic_threads/roles/turn.h"

enum { POLLS_A_CLOCK = 64 }; /* polls between two looks at the clock */

static struct bcs_port *own_port(const struct nic_engine *engine)
{
    return nic_engine_port(engine, engine->port);
}

void nic_waiter_announce(struct nic_engine *engine, struct bcs_waiter *waiter)
{
    waiter->spell.is_announced = true;
    waiter->park = bcs_sleep_announce(engine->machine, own_port(engine));
    nic_wake_referee(engine->machine);
}

void nic_waiter_show(const struct nic_engine *engine, bool is_polling)
{
    if (engine->recorders != NULL) {
        atomic_store_explicit(&own_port(engine)->is_polling, is_polling,
                              memory_order_relaxed);
    }
}

static void take_core_back(struct nic_engine *engine, struct bcs_waiter *waiter)
{
    nic_cores_take_back(engine->machine, waiter->lent_cpu);
    waiter->lent_cpu = 0;
    nic_waiter_show(engine, false);
}

void nic_waiter_take_back(struct nic_engine *engine, struct bcs_waiter *waiter)
{
    take_core_back(engine, waiter);
    waiter->spell = (struct bcs_spell){0};
    if (engine->is_threaded) { /* another thread may sleep on the same word */
        bcs_sleep_wake(engine->machine, own_port(engine));
    } else {
        bcs_sleep_retract(engine->machine, own_port(engine));
    }
}

void nic_waiter_rest(struct nic_engine *engine, struct bcs_waiter *waiter,
                     void (*kick)(struct nic_engine *engine, uint32_t reader))
{
    if (waiter->spell.is_announced) {
        nic_waiter_sleep(engine, waiter);
    } else {
        nic_waiter_announce(engine, waiter);
        kick(engine, engine->port);
    }
}

/** Whether the waiter polls at all. With several threads in a process, nobody knows how
 *  many of them have a core. */
static bool may_poll(const struct nic_engine *engine)
{
    return engine->is_timed && !engine->is_threaded && engine->stay_ticks > 0 &&
           !nic_engine_is_crowded(engine);
}

void nic_waiter_turn(struct nic_engine *engine, struct bcs_waiter *waiter,
                     void (*kick)(struct nic_engine *engine, uint32_t reader))
{
    const struct bcs_patience patience = {
        .n_a_halt = POLLS_A_CLOCK,
        .sleep_ticks = engine->stay_ticks,
    };

    if (waiter->spell.is_announced || !may_poll(engine)) {
        nic_waiter_rest(engine, waiter, kick);
        return;
    }
    if (waiter->spell.n_looks == 0) { /* a strobe's sender does no harm on this core */
        waiter->lent_cpu = nic_cores_lend(engine->machine);
        nic_waiter_show(engine, true);
        kick(engine, engine->port);
    }
    switch (bcs_spell_look(&waiter->spell, &patience)) {
    case BCS_WAIT_ANNOUNCE:
        nic_waiter_announce(engine, waiter);
        kick(engine, engine->port);
        break;
    case BCS_WAIT_YIELD: /* a process may wait for this core though another one is idle
                          */
        bcs_yield();
        break;
    default:
        break;
    }
}

void nic_waiter_stop(struct nic_engine *engine, struct bcs_waiter *waiter)
{
    if (waiter->spell.is_announced) {
        nic_waiter_take_back(engine, waiter);
    } else {
        take_core_back(engine, waiter);
    }
}

void nic_waiter_let_go(struct nic_engine *engine, struct bcs_waiter *waiter)
{
    if (waiter->holds_lock) {
        waiter->holds_lock = false;
        engine->poller = NULL;
        if (nic_engine_unlock(nic_engine_own(engine))) {
            nic_engine_turn(engine); /* somebody has work and could not lock */
        }
    }
}

void nic_waiter_abandon(struct nic_engine *engine)
{
    /* What it has kept is on a stack of before. */
    struct bcs_waiter waiter = {.holds_lock = engine->poller != NULL};

    nic_waiter_let_go(engine, &waiter);
    engine->open_recall = 0; /* nobody waits for its answer */
    /* relaxed: this process alone announces */
    if (atomic_load_explicit(&own_port(engine)->park, memory_order_relaxed) % 2 != 0) {
        nic_waiter_take_back(engine, &waiter);
    }
}

/** Tell the other jobs of the user on this machine how many of this one sleep. */
static void tell_others(const struct nic_engine *engine)
{
    /* relaxed: a hint */
    bcs_jobs_tell(&engine->own_slot, atomic_load_explicit(&engine->machine->n_asleep,
                                                          memory_order_relaxed));
}

void nic_waiter_sleep(struct nic_engine *engine, struct bcs_waiter *waiter)
{
    uint64_t until_ns =
        waiter->sleep_ns == 0 ? 0 : bcs_clock_now_ns() + waiter->sleep_ns;
    bool is_called;

    tell_others(engine);
    if (nic_engine_has_network(engine)) {
        nic_engine_leave(engine);
    }
    if (bcs_jobs_are_shared(&engine->own_slot)) {
        bcs_jobs_sweep_in_time(&engine->own_slot);
    }
    is_called = bcs_sleep_now(own_port(engine), waiter->park, until_ns);
    tell_others(engine);
    if (is_called) {
        nic_waiter_take_back(engine, waiter);
    }
}
