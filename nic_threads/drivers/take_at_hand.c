/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Taking a message that is at hand; see the header. Called by the owner of the port of
 * a desk.
 */
#include "nic_threads/drivers/take_at_hand.h"

#include "nic_threads/machine/engine_lock.h"
#include "nic_threads/machine/waking.h"
#include "nic_threads/node/views.h"
#include "nic_threads/roles/turn.h"

/* Some 2 us: what two messages take between cores that are far apart. */
enum { LOOKS = 1000 };

static void unlock(struct nic_engine *engine)
{
    if (__builtin_expect(nic_engine_unlock(nic_engine_own(engine)), 0)) {
        nic_engine_turn(engine); /* somebody has work and could not lock */
    }
}

bool nic_at_hand_begin(struct nic_engine *engine, struct nic_wish *wish, uint32_t port,
                       struct nic_found *found_out)
{
    struct nic_view *view = nic_engine_own(engine);
    enum nic_at_hand found;

    assert(nic_is_linked(engine) && !engine->is_timed && !engine->is_threaded);
    wish->link = wish->source < 0 ? view->n_links : nic_at_hand_link(view, port);
    wish->is_off_node = wish->source >= 0 && !nic_view_has(view, port);
    if ((wish->link == view->n_links &&
         nic_match_n_sends(&view->per_port.match[0]) == 0) ||
        engine->poller != NULL || !nic_engine_try_lock(view)) {
        return false;
    }
    found = nic_at_hand_look(view, wish, 1, found_out);
    if (found == NIC_AT_HAND_NOT_YET && wish->link != view->n_links &&
        !nic_engine_is_crowded(engine)) {
        found = nic_at_hand_look(view, wish, LOOKS, found_out);
    }
    if (found != NIC_AT_HAND) {
        unlock(engine);
    }
    return found == NIC_AT_HAND;
}

void nic_at_hand_end(struct nic_engine *engine, const struct nic_found *found)
{
    nic_at_hand_give_back(nic_engine_own(engine), found);
    unlock(engine);
}
