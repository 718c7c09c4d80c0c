/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Turns: the strobe receiver's and the strobe sender's steps, node by node, under their locks.
 * Called by every process of the job, through the driver.
 */
#include "nic_threads/drivers/turn.h"

#include <assert.h>

#include "nic_threads/node/engine_lock.h"
#include "nic_threads/node/waking.h"
#include "nic_threads/roles/roles.h"

/* is_alone: nic_is_alone of the engine; a constant where it is known. */

static inline bool has_work(const struct nic_view *view, bool is_alone)
{
    return nic_strobe_receiver_has_work(view) ||
           (!is_alone && view->index == 0 && nic_strobe_sender_has_work(view));
}

static inline bool step(struct nic_view *view, bool is_alone)
{
    bool has_done;

    if (is_alone) {
        return nic_strobe_receiver_run_alone(view);
    }
    has_done = nic_strobe_receiver_step(view);
    if (view->index == 0) {
        has_done |= nic_strobe_sender_step(view);
    }
    return has_done;
}

/** The turn of one node. @return whether anything was done */
static inline bool turn_node(struct nic_view *view, bool is_alone)
{
    bool has_done = false;
    bool looks_again = true;

    while (looks_again && has_work(view, is_alone) && nic_engine_try_lock(view)) {
        bool has_stepped = step(view, is_alone);

        /* without effect if another process had taken the work before it */
        looks_again = nic_engine_unlock(view) || has_stepped;
        has_done |= has_stepped;
    }
    return has_done;
}

/** The turn of all desks; nodes make work for each other. */
static inline bool turn_views(struct nic_engine *engine, bool is_alone)
{
    bool has_done = false;
    bool goes_on;

    do {
        goes_on = false;
        for (uint32_t i = 0; i < engine->n_views; i++) {
            goes_on |= turn_node(&engine->views[i], is_alone);
        }
        has_done |= goes_on;
    } while (goes_on && engine->n_nodes > 1);
    return has_done;
}

/** The turn of the desks of other ports where this process has something under way; who is polite
 *  leaves those alone that are locked. */
static bool turn_owed(struct nic_engine *engine, bool is_polite)
{
    const struct nic_view *own = nic_engine_own(engine);
    bool has_done = false;

    if (engine->n_owed == 0) {
        return false;
    }
    for (uint32_t word = 0; word < nic_port_words(own->n_local); word++) {
        for (uint64_t bits = engine->owed[word]; bits != 0; bits &= bits - 1) {
            uint32_t local = word * 64 + (uint32_t)__builtin_ctzll(bits);
            struct nic_view *view = &engine->views[local];

            if (view != own &&
                (!is_polite ||
                 atomic_load_explicit(&view->desk->lock, memory_order_relaxed) == 0)) {
                has_done |= turn_node(view, true);
            }
        }
    }
    return has_done;
}

bool nic_engine_has_work(const struct nic_view *view)
{
    return has_work(view, nic_is_alone(view->engine));
}

bool nic_engine_turn_owed(struct nic_engine *engine)
{
    return turn_owed(engine, true);
}

bool nic_engine_turn(struct nic_engine *engine)
{
    bool has_done;

    if (!nic_is_alone(engine)) {
        return turn_views(engine, false);
    }
    has_done = turn_node(nic_engine_own(engine), true);
    return turn_owed(engine, false) || has_done;
}

bool nic_engine_turn_all(struct nic_engine *engine)
{
    return turn_views(engine, nic_is_alone(engine));
}

bool nic_engine_turn_at(struct nic_engine *engine, uint32_t port)
{
    return turn_node(nic_engine_view(engine, port), nic_is_alone(engine));
}

bool nic_engine_receive(struct nic_view *view)
{
    bool is_alone = nic_is_alone(view->engine);
    bool has_done;

    if (!nic_strobe_receiver_has_work(view) || !nic_engine_try_lock(view)) {
        return false;
    }
    has_done =
        is_alone ? nic_strobe_receiver_run_alone(view) : nic_strobe_receiver_step(view);
    nic_engine_unlock(view);
    if (has_done && !is_alone) {
        nic_engine_ring(view, 0);
    }
    return has_done;
}

void nic_engine_run_slice(struct nic_engine *engine)
{
    struct nic_view *first = &engine->views[0];
    bool is_ours = nic_engine_try_lock(first);

    assert(is_ours); /* nobody else takes turns */
    (void)is_ours;
    nic_strobe_sender_open_slice(first);
    nic_engine_unlock(first);
    nic_engine_turn(engine);
}
