/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Taking a message that is at hand; see the header. Called by the owner of the port of
 * a desk.
 */
#include "nic_threads/drivers/take_at_hand.h"

#include "nic_threads/machine/engine_lock.h"
#include "nic_threads/machine/engine_xfer.h"
#include "nic_threads/machine/waking.h"
#include "nic_threads/node/views.h"
#include "nic_threads/roles/turn.h"

/* Some 2 us: what two messages take between cores that are far apart; and some 30 us:
 * what they take over a network, where each look lets it move on. */
enum { LOOKS = 1000, NETWORK_LOOKS = 64 };

static void unlock(struct nic_engine *engine)
{
    if (__builtin_expect(nic_engine_unlock(nic_engine_own(engine)), 0)) {
        nic_engine_turn(engine); /* somebody has work and could not lock */
    }
}

/** Look for the message until it may be under way no more. */
static enum nic_at_hand look_for_long(struct nic_engine *engine, struct nic_view *view,
                                      struct nic_wish *wish, uint32_t port,
                                      struct nic_found *found_out)
{
    uint32_t node = nic_layout_node(&engine->layout, port);
    enum nic_at_hand found = NIC_AT_HAND_NOT_YET;

    if (nic_engine_is_near(engine, node) || !nic_engine_has_network(engine)) {
        return nic_at_hand_look(view, wish, LOOKS, found_out);
    }
    for (uint32_t i = 0; i < NETWORK_LOOKS && found == NIC_AT_HAND_NOT_YET; i++) {
        nic_engine_progress(engine, true);
        found = nic_at_hand_look(view, wish, 1, found_out);
    }
    return found;
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
        found = look_for_long(engine, view, wish, port, found_out);
    }
    if (found != NIC_AT_HAND) {
        unlock(engine);
    }
    return found == NIC_AT_HAND;
}

void nic_at_hand_end(struct nic_engine *engine, const struct nic_found *found)
{
    struct nic_view *own = nic_engine_own(engine);

    nic_at_hand_give_back(own, found);
    unlock(engine);
    if (__builtin_expect(nic_engine_has_network(engine), 0) &&
        nic_engine_has_work(own)) {
        nic_engine_ring_own(own); /* it may have come while nobody was to be woken */
    }
}
