/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The desks of other ports that have operations of this process: a send that is not
 * done, or a member's part of a collective. A process that waits for such an operation
 * turns that desk, too, so that the operation goes on while the owner of the desk
 * computes. By the thread that uses the engine.
 */
#ifndef NIC_THREADS_DRIVERS_PENDING_DESKS_H
#define NIC_THREADS_DRIVERS_PENDING_DESKS_H

#include <string.h>

#include "nic_threads/node/node.h"
#include "nic_threads/node/views.h"

/** An operation begins that is matched at a desk, by its number among all, which takes
 *  it from a ring of this process. */
static inline void nic_engine_add_pending(struct nic_engine *engine, uint32_t desk)
{
    if (engine->n_pending_desks++ == 0) {
        memset(engine->pending_desks, 0,
               nic_port_words(engine->n_views) * sizeof(engine->pending_desks[0]));
    }
    if (nic_engine_is_near_desk(engine, desk)) {
        nic_mark(engine->pending_desks, desk - engine->first_desk);
        engine->is_in_round |=
            engine->n_nodes > 1 && !nic_engine_desk(engine, desk)->is_alone;
    }
}

/** Such an operation is over. */
static inline void nic_engine_end_pending(struct nic_engine *engine)
{
    if (--engine->n_pending_desks == 0) {
        engine->is_in_round = false;
    }
}

#endif
