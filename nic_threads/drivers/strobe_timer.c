/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The strobe timer: the grid of strobe_clock.h against CLOCK_MONOTONIC.
 *
 * No strobe without need. When a slice is over and no node has anything to deliver, to carry
 * out or to take, no timer is set, and the thread sleeps on `timer_park` until somebody posts: then
 * the next strobe comes at the next point of the grid. So processes that
 * compute are left alone. Who posts publishes first and then looks at `timer_park` (both seq_cst);
 * the thread announces its parking (seq_cst) and then looks at all rings: one of the two sees the
 * other.
 *
 * Both ask the same of a ring, nic_collection_needs_strobe. Who posts finds what the
 * slices before the parking have left, as the announcement releases it; if another process ends
 * the parking meanwhile, so that a slice changes it, the thread looks at all rings again before
 * the next parking, and that sees what was posted.
 *
 * On time. The thread polls between the end of its timer and the strobe. Where some process
 * only polls for a completion, it does so on that process's core, and takes no time from
 * those that compute; it goes there before it sleeps, since to go takes longer than most
 * wake-ups. Otherwise it polls less, and strobes are a little later.
 */
#include "nic_threads/drivers/strobe_timer.h"

#include <sched.h>

#include "libbcs/base/clock.h"
#include "libbcs/base/notice.h"
#include "nic_threads/drivers/service_thread.h"
#include "nic_threads/node/engine_lock.h"
#include "nic_threads/roles/collection.h"
#include "nic_threads/roles/roles.h"

void nic_strobe_timer_start(struct nic_strobe_clock *clock, const struct nic_view *view)
{
    view->node->strobes.is_prompt = nic_service_thread_be_prompt();
    if (!view->node->strobes.is_prompt) {
        bcs_notice(
            BCS_NOTICE_STROBE_PRIORITY,
            "the thread that sends the strobes may not have a real-time priority");
    }
    nic_strobe_clock_start(clock, bcs_clock_now_ns(), view->engine->config->slice_ns,
                           &view->node->strobes);
}

static bool is_stopped(const _Atomic bool *is_stopping)
{
    return atomic_load_explicit(is_stopping, memory_order_seq_cst);
}

/** Sleep until a time, if it is still to come. @return false: *is_stopping is set */
static bool sleep_until(_Atomic uint32_t *park, uint64_t until_ns,
                        const _Atomic bool *is_stopping)
{
    while (bcs_clock_now_ns() < until_ns) {
        uint32_t announced = bcs_park_announce(park, NULL);

        if (!is_stopped(is_stopping)) {
            bcs_park_sleep(park, announced, until_ns);
        }
        bcs_park_end(park);
        if (is_stopped(is_stopping)) {
            return false;
        }
    }
    return true;
}

static bool are_all_at_rest(const struct nic_engine *engine)
{
    bool are_at_rest = true;

    for (uint32_t i = 0; are_at_rest && i < engine->n_nodes; i++) {
        struct nic_view *view = &engine->views[i];

        if (!nic_engine_try_lock(view)) {
            return false;
        }
        are_at_rest = nic_strobe_receiver_is_at_rest(view);
        nic_engine_unlock(view);
    }
    return are_at_rest;
}

/** Sleep until somebody posts, if nothing is left to do. @return whether that was so */
static bool park_timer(const struct nic_engine *engine, const _Atomic bool *is_stopping)
{
    _Atomic uint32_t *park = &engine->machine->timer_park;
    uint32_t announced = bcs_park_announce(park, NULL);
    bool will_sleep = !is_stopped(is_stopping) && are_all_at_rest(engine);

    if (will_sleep) {
        bcs_park_sleep(park, announced, 0);
    }
    bcs_park_end(park);
    return will_sleep;
}

static void poll_until(uint64_t due_ns)
{
    while (bcs_clock_now_ns() < due_ns) {
        bcs_clock_pause();
    }
}

static uint64_t lent_cores(const struct bcs_machine *machine)
{
    return atomic_load_explicit(&machine->lent_cpus, memory_order_relaxed);
}

/** Go to a core that has been lent, unless the thread is on one. */
static void take_lent_core(const struct bcs_machine *machine)
{
    uint64_t lent = lent_cores(machine);
    int cpu = sched_getcpu();

    if (lent != 0 && cpu >= 0 && (cpu >= BCS_LENT_CPUS || (lent >> cpu & 1) == 0)) {
        nic_service_thread_go_to(__builtin_ctzll(lent));
    }
}

/** The timer for the strobe that is due at due_ns. */
struct timer {
    uint64_t due_ns;
    uint64_t end_ns;
    enum nic_strobe_poll poll;
    bool has_ended; /* before it was set */
};

/** The timer for the next strobe. */
static struct timer set_timer(const struct nic_strobe_clock *clock,
                              const struct bcs_machine *machine)
{
    uint64_t now_ns = bcs_clock_now_ns();
    struct timer timer = {.due_ns = nic_strobe_clock_due_ns(clock, now_ns)};

    timer.poll = lent_cores(machine) != 0 ? NIC_STROBE_POLL_FREE : NIC_STROBE_POLL_DEAR;
    timer.end_ns = nic_strobe_clock_timer_ns(clock, timer.due_ns, timer.poll);
    timer.has_ended = timer.end_ns <= now_ns;
    return timer;
}

void nic_strobe_timer_need(const struct nic_engine *engine)
{
    const struct nic_view *view = &engine->views[engine->home];

    if (bcs_park_is_announced(&engine->machine->timer_park) &&
        nic_collection_needs_strobe(view, engine->port - view->first_port)) {
        bcs_park_wake(&engine->machine->timer_park);
    }
}

bool nic_strobe_timer_wait(struct nic_strobe_clock *clock, const struct nic_view *view,
                           const _Atomic bool *is_stopping)
{
    struct bcs_machine *machine = view->engine->machine;
    struct timer timer;

    while (park_timer(view->engine, is_stopping)) {
        nic_strobe_clock_skip(clock, bcs_clock_now_ns());
    }
    take_lent_core(machine);
    timer = set_timer(clock, machine);
    if (!sleep_until(&machine->strobe_park, timer.end_ns, is_stopping)) {
        return false;
    }
    if (!timer.has_ended) {
        nic_strobe_clock_ready(clock, timer.due_ns, bcs_clock_now_ns(), timer.poll);
    }
    poll_until(timer.due_ns);
    nic_strobe_clock_sent(clock, timer.due_ns, bcs_clock_now_ns());
    return true;
}

void nic_strobe_timer_stop(const struct nic_view *view)
{
    bcs_park_wake(&view->engine->machine->strobe_park);
    bcs_park_wake(&view->engine->machine->timer_park);
}
