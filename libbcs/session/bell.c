/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sleeping on a bell; see the header.
 */
#include "libbcs/session/bell.h"

void bcs_bell_look_around(struct bcs_bell *bell)
{
    atomic_store_explicit(&bell->is_crowded,
                          bcs_meeting_is_crowded(bell->meeting, bell->n_needs),
                          memory_order_relaxed);
}

int bcs_bell_sleep(struct bcs_bell *bell, struct bcs_bell_wait *wait)
{
    int rc;

    bcs_bell_look_around(bell);
    rc = bcs_await_event(bell->core, bell->gva, wait->n_heard);

    wait->spell.is_announced = false;
    if (rc < 0) {
        return rc;
    }
    if (bcs_bell_n_rings(bell) == wait->n_heard) {
        return 0;
    }
    wait->spell.since_ticks = 0; /* where one message comes, others may follow soon */
    return 1;
}
