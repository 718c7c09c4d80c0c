/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Guests at a desk; see the header.
 */
#include "nic_threads/roles/guest.h"

#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/base/system.h"
#include "nic_threads/machine/engine_lock.h"
#include "nic_threads/machine/waking.h"
#include "nic_threads/node/views.h"
#include "nic_threads/roles/turn.h"

enum { LOCK_TRIES = 1000, TRIES_A_YIELD = 16 };

bool nic_guest_lock(struct nic_view *view)
{
    for (int i = 0; i < LOCK_TRIES; i++) {
        if (nic_engine_try_lock(view)) {
            return true;
        }
        if (i % TRIES_A_YIELD != 0) {
            bcs_clock_pause(); /* who polls there lets go for a moment only */
        } else {
            bcs_yield();
        }
    }
    return false;
}

void nic_guest_make_good(struct nic_engine *engine)
{
    for (uint32_t i = 0; nic_engine_has_crews(engine) && i < engine->n_near; i++) {
        nic_engine_ring_own(nic_engine_node(engine, engine->first_near + i));
    }
    if (!nic_engine_has_crews(engine) && !engine->is_timed) {
        nic_engine_turn_all(engine);
    }
}
