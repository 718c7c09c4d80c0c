/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The strobe timer: the grid of strobe_clock.h against CLOCK_MONOTONIC.
 *
 * No strobe without need. When a slice is over and no node has anything to deliver, to
 * carry out or to take, no timer is set, and the thread sleeps until somebody posts:
 * then the next strobe comes at the next point of the grid. So processes that compute
 * are left alone. The thread is parked when it looks; it sets timer_rests (seq_cst, a
 * fence behind it), and then looks at all rings. Who posts publishes first and then
 * looks at timer_rests (both seq_cst): one of the two sees the other. It ends the
 * parking if it must.
 *
 * Both ask the same of a ring, nic_collection_needs_strobe. Who posts finds what the
 * slices before have left, as timer_rests releases it; if another process ends the
 * parking meanwhile, so that a slice changes it, the thread looks at all rings again
 * before it rests once more, and that sees what was posted.
 *
 * On time. The thread polls between the end of its timer and the strobe. Where some
 * process only polls for a completion, it does so on that process's core, and takes no
 * time from those that compute; it goes there before it sleeps, since to go takes
 * longer than most wake-ups. Otherwise it polls less, and strobes are a little later.
 */
#include "nic_threads/service/strobe_timer.h"

#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/base/notice.h"
#include "libbcs/fabric/base/park.h"
#include "nic_threads/machine/cores.h"
#include "nic_threads/machine/engine_lock.h"
#include "nic_threads/node/views.h"
#include "nic_threads/roles/collection.h"
#include "nic_threads/roles/roles.h"

void nic_strobe_timer_start(struct nic_strobe_timer *timer, const struct nic_view *view)
{
    struct nic_strobe_counts *counts = &view->node->strobes;

    counts->is_prompt = nic_cores_be_prompt();
    if (!counts->is_prompt) {
        bcs_notice(
            BCS_NOTICE_STROBE_PRIORITY,
            "the thread that sends the strobes may not have a real-time priority");
    }
    nic_strobe_clock_start(&timer->clock, bcs_clock_now_ns(),
                           view->engine->config->slice_ns, counts);
}

static bool are_all_at_rest(const struct nic_engine *engine)
{
    bool are_at_rest = !nic_engine_has_far(engine); /* of far nodes nobody can tell */

    for (uint32_t i = 0; are_at_rest && i < engine->n_views; i++) {
        struct nic_view *view = nic_engine_view_at(engine, i);

        if (!nic_engine_try_lock(view)) {
            return false;
        }
        are_at_rest = nic_strobe_receiver_is_at_rest(view);
        nic_engine_unlock(view);
    }
    return are_at_rest;
}

/** Whether no strobe is needed before somebody posts, who then ends the parking. */
static bool may_rest(const struct nic_engine *engine)
{
    _Atomic uint32_t *rests = &engine->machine->timer_rests;
    bool may;

    /* seq_cst: partner of the load in nic_strobe_timer_need */
    atomic_store_explicit(rests, 1, memory_order_seq_cst);
    atomic_thread_fence(memory_order_seq_cst); /* rings are read with acquire */
    may = are_all_at_rest(engine);
    if (!may) {
        atomic_store_explicit(rests, 0, memory_order_relaxed); /* spares them a look */
    }
    return may;
}

static void poll_until(uint64_t due_ns)
{
    while (bcs_clock_now_ns() < due_ns) {
        bcs_clock_pause();
    }
}

/** Set the timer for the next strobe. */
static void set_timer(struct nic_strobe_timer *timer, const struct bcs_machine *machine)
{
    uint64_t now_ns = bcs_clock_now_ns();

    timer->due_ns = nic_strobe_clock_due_ns(&timer->clock, now_ns);
    timer->poll =
        nic_cores_are_lent(machine) ? NIC_STROBE_POLL_FREE : NIC_STROBE_POLL_DEAR;
    timer->end_ns =
        nic_strobe_clock_timer_ns(&timer->clock, timer->due_ns, timer->poll);
    timer->has_ended = timer->end_ns <= now_ns;
    timer->is_set = true;
}

void nic_strobe_timer_need(const struct nic_engine *engine)
{
    const struct nic_view *view = nic_engine_own(engine);

    if (atomic_load_explicit(&engine->machine->timer_rests, memory_order_seq_cst) !=
            0 &&
        nic_collection_needs_strobe(view, nic_view_seat(view, engine->port))) {
        bcs_park_wake(&engine->machine->strobe_park);
    }
}

/** Decide whether the next strobe is needed, and set the timer if so. @return whether
 *  it is */
static bool find_need(struct nic_strobe_timer *timer, const struct nic_engine *engine)
{
    if (may_rest(engine)) {
        timer->has_rested = true;
        return false;
    }
    if (timer->has_rested) {
        timer->has_rested = false;
        nic_strobe_clock_skip(&timer->clock, bcs_clock_now_ns());
    }
    nic_cores_go_to_lent(engine->machine);
    set_timer(timer, engine->machine);
    return true;
}

struct nic_rest nic_strobe_timer_look(struct nic_strobe_timer *timer,
                                      const struct nic_view *view)
{
    uint64_t now_ns;

    if (nic_strobe_sender_is_over(view)) {
        return (struct nic_rest){NIC_REST_PARK, 0};
    }
    if (!timer->is_set && !find_need(timer, view->engine)) {
        return (struct nic_rest){NIC_REST_PARK, 0};
    }
    now_ns = bcs_clock_now_ns();
    if (now_ns < timer->end_ns) {
        return (struct nic_rest){NIC_REST_PARK, timer->end_ns};
    }
    if (!timer->has_ended) {
        nic_strobe_clock_ready(&timer->clock, timer->due_ns, now_ns, timer->poll);
    }
    poll_until(timer->due_ns);
    nic_strobe_clock_sent(&timer->clock, timer->due_ns, bcs_clock_now_ns());
    timer->is_set = false;
    return (struct nic_rest){NIC_REST_NOT, 0};
}
