/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Turns: the strobe receiver's and the strobe sender's steps, node by node, under their
 * locks. Called by every process of the job, through the driver.
 */
#include "nic_threads/roles/turn.h"

#include <assert.h>

#include "libbcs/fabric/base/park.h"
#include "nic_threads/machine/engine_lock.h"
#include "nic_threads/machine/waking.h"
#include "nic_threads/node/views.h"
#include "nic_threads/roles/roles.h"

/* Before a desk that is held is tried again; asleep, as its holder may need the core,
 * which a thread with a real-time priority does not yield. */
enum { HELD_NS = 20000 };

static inline bool has_work(const struct nic_view *view)
{
    return nic_strobe_receiver_has_work(view) ||
           (!view->is_alone && view->index == 0 && nic_strobe_sender_has_work(view));
}

static inline enum nic_carried step(struct nic_view *view)
{
    bool has_done;

    if (view->is_alone) {
        return nic_strobe_receiver_run_alone(view);
    }
    has_done = nic_strobe_receiver_step(view);
    if (view->index == 0) {
        has_done |= nic_strobe_sender_step(view);
    } else if (has_done && !nic_engine_is_near(view->engine, 0)) {
        nic_engine_ring(view, 0); /* the strobe sender may wait for this node */
    }
    return has_done ? NIC_CARRIED_SOME : NIC_CARRIED_NOTHING;
}

/** The turn of one desk, but for what it has put to others. */
static inline bool turn_alone(struct nic_view *view)
{
    bool has_done = false;
    bool looks_again = true;

    while (looks_again && has_work(view) && nic_engine_try_lock(view)) {
        enum nic_carried carried = step(view);

        /* without effect if another process had taken the work before it */
        looks_again = nic_engine_unlock(view) || carried == NIC_CARRIED_SOME;
        has_done |= carried != NIC_CARRIED_NOTHING;
    }
    return has_done;
}

/** Turn the desks that this engine has put something to that is not for their owners,
 *  who may compute or sleep: they pass on what lies in their node's memory, or what
 *  waited for room. */
static __attribute__((noinline)) void visit(struct nic_engine *engine)
{
    while (engine->has_visits) {
        engine->has_visits = false;
        /* seq_cst: between what was put and the looks, as is the unlocking in a turn;
         * see driver_inline.c */
        atomic_thread_fence(memory_order_seq_cst);
        for (uint32_t word = 0; word < nic_port_words(engine->n_views); word++) {
            while (engine->visits[word] != 0) {
                uint64_t bits = engine->visits[word];
                struct nic_view *view = nic_engine_view_at(
                    engine, word * 64 + (uint32_t)__builtin_ctzll(bits));

                engine->visits[word] = bits & (bits - 1); /* its turn may set others */
                turn_alone(view);
            }
        }
    }
}

/** The turn of one desk. @return whether anything was done */
static inline bool turn_desk(struct nic_view *view)
{
    bool has_done = turn_alone(view);

    if (__builtin_expect(view->engine->has_visits, 0)) {
        visit(view->engine);
    }
    return has_done;
}

/** The turn of every n-th near desk, by the number of its view, from one on, until
 *  there is nothing to do; nodes make work for each other. */
static inline bool turn_desks(struct nic_engine *engine, uint32_t first, uint32_t n)
{
    bool has_done = false;
    bool goes_on;

    do {
        goes_on = false;
        for (uint32_t i = first; i < engine->n_views; i += n) {
            goes_on |= turn_desk(nic_view_for_turn(engine, i));
        }
        has_done |= goes_on;
    } while (goes_on && engine->n_nodes > 1);
    return has_done;
}

/** The desks of the near nodes themselves, where all nodes go through their rounds.
 *  Whoever makes work there turns them all, so that nothing need be done but where a
 *  round is under way or demanded, or something is for this process's node. */
static bool turn_rounds(struct nic_engine *engine)
{
    uint32_t n_desks = engine->layout.n_desks;
    bool leads = nic_engine_is_near(engine, 0);

    return (has_work(nic_engine_node(engine, engine->home)) ||
            (leads && has_work(nic_engine_node(engine, 0)))) &&
           turn_desks(engine, n_desks - 1, n_desks);
}

/** turn_pending where there are such. */
static __attribute__((noinline)) bool turn_all_pending(struct nic_engine *engine,
                                                       bool is_polite)
{
    const struct nic_view *own = nic_engine_own(engine);
    bool has_done = false;

    for (uint32_t word = 0; word < nic_port_words(engine->n_views); word++) {
        for (uint64_t bits = engine->pending_desks[word]; bits != 0; bits &= bits - 1) {
            struct nic_view *view =
                nic_engine_view_at(engine, word * 64 + (uint32_t)__builtin_ctzll(bits));

            if (view != own && view->is_alone &&
                (!is_polite ||
                 atomic_load_explicit(&view->desk->lock, memory_order_relaxed) == 0)) {
                has_done |= turn_desk(view);
            }
        }
    }
    return has_done;
}

/** The turn of the desks of others where this process has something under way; who is
 *  polite leaves those alone that are locked. */
static inline bool turn_pending(struct nic_engine *engine, bool is_polite)
{
    return engine->n_pending_desks > 0 && turn_all_pending(engine, is_polite);
}

bool nic_engine_has_work(const struct nic_view *view)
{
    return has_work(view);
}

void nic_engine_visit(struct nic_engine *engine)
{
    if (__builtin_expect(engine->has_visits, 0)) {
        visit(engine);
    }
}

bool nic_engine_turn_others(struct nic_engine *engine)
{
    bool has_done = turn_pending(engine, true);

    return (nic_layout_has_node_desks(&engine->layout) && turn_rounds(engine)) ||
           has_done;
}

bool nic_engine_turn(struct nic_engine *engine)
{
    bool has_done;

    if (!nic_engine_own(engine)->is_alone) {
        return turn_desks(engine, 0, 1);
    }
    has_done = turn_desk(nic_engine_own(engine));
    has_done |= turn_pending(engine, false);
    if (nic_layout_has_node_desks(&engine->layout)) {
        has_done |= turn_rounds(engine);
    }
    return has_done;
}

bool nic_engine_turn_all(struct nic_engine *engine)
{
    return turn_desks(engine, 0, 1);
}

bool nic_engine_turn_at(struct nic_engine *engine, uint32_t desk)
{
    struct nic_view *view;

    if (!nic_engine_is_near_desk(engine, desk)) {
        return false;
    }
    view = nic_engine_desk(engine, desk);
    if (nic_layout_has_node_desks(&engine->layout) && !view->is_alone) {
        return turn_rounds(engine);
    }
    return turn_desk(view);
}

/** nic_engine_receive at one desk. */
static bool receive_at(struct nic_view *view)
{
    bool has_done;

    if (!nic_strobe_receiver_has_work(view) || !nic_engine_try_lock(view)) {
        return false;
    }
    has_done = view->is_alone
                   ? nic_strobe_receiver_run_alone(view) != NIC_CARRIED_NOTHING
                   : nic_strobe_receiver_step(view);
    nic_engine_unlock(view);
    if (has_done && !view->is_alone) {
        nic_engine_ring(view, 0);
    }
    return has_done;
}

bool nic_engine_receive(struct nic_view *view)
{
    const struct nic_engine *engine = view->engine;
    uint32_t n_desks = engine->layout.n_desks, first = view->index * n_desks;
    bool has_done = false;

    for (uint32_t i = first; i < first + n_desks; i++) {
        has_done |= receive_at(nic_engine_desk(engine, i));
    }
    return has_done;
}

/** Whether far nodes need take no part in a slice any more. */
static bool is_ending(const struct nic_engine *engine)
{
    return nic_engine_has_far(engine) &&
           atomic_load_explicit(&engine->machine->is_ending, memory_order_relaxed) != 0;
}

void nic_engine_run_slice(struct nic_engine *engine)
{
    struct nic_view *first = nic_engine_node(engine, 0);

    while (!nic_engine_try_lock(first)) {
        bcs_rest(HELD_NS);
    }
    if (is_ending(engine)) {
        nic_engine_unlock(first);
        return;
    }
    assert(!nic_strobe_sender_has_work(first)); /* the last slice is over */
    nic_strobe_sender_open_slice(first);
    nic_engine_unlock(first);
    nic_engine_turn(engine);
    /* A desk may have been held when its turn came. */
    while (nic_strobe_sender_has_work(first) && !is_ending(engine)) {
        bcs_rest(HELD_NS);
        nic_engine_turn(engine);
    }
}
