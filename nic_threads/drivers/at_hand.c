/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Taking a message that is at hand; see the header. Called by the owner of the port of a desk.
 */
#include "nic_threads/drivers/at_hand.h"

#include "nic_threads/drivers/turn.h"
#include "nic_threads/node/engine_lock.h"
#include "nic_threads/node/waking.h"

/* Some 2 us: what two messages take between cores that are far apart. */
enum { LOOKS = 1000 };

static void unlock(struct nic_engine *engine)
{
    if (__builtin_expect(nic_engine_unlock(nic_engine_own(engine)), 0)) {
        nic_engine_turn(engine); /* somebody has work and could not lock */
    }
}

const struct bcs_descriptor *nic_at_hand_begin(struct nic_engine *engine,
                                               const struct nic_wish *wish)
{
    struct nic_view *view = nic_engine_own(engine);
    uint32_t link = nic_at_hand_link(view, wish->port);
    const struct bcs_descriptor *send;
    enum nic_at_hand found;

    assert(nic_is_linked(engine) && !engine->is_timed && !engine->is_threaded);
    if (link == view->n_links || engine->keeper != NULL || !nic_engine_try_lock(view)) {
        return NULL;
    }
    found = nic_at_hand_look(view, link, wish, 1, &send);
    if (found == NIC_AT_HAND_NOT_YET && !nic_engine_is_crowded(engine)) {
        found = nic_at_hand_look(view, link, wish, LOOKS, &send);
    }
    if (found != NIC_AT_HAND) {
        unlock(engine);
        return NULL;
    }
    return send;
}

void nic_at_hand_end(struct nic_engine *engine, const struct nic_wish *wish,
                     const struct bcs_descriptor *send)
{
    struct nic_view *view = nic_engine_own(engine);

    nic_at_hand_give_back(view, nic_at_hand_link(view, wish->port), send);
    unlock(engine);
}
