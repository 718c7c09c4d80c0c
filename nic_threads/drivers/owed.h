/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a process owes to its own operations: a send that is not done, and a member's part of a
 * collective, lie at the desk of another port. Whoever waits for them turns that desk as well,
 * so that they go on while the other process computes. By the thread that uses the engine.
 */
#ifndef NIC_THREADS_DRIVERS_OWED_H
#define NIC_THREADS_DRIVERS_OWED_H

#include <string.h>

#include "nic_threads/node/node.h"

/** An operation begins that is matched at a desk, by its number among all, which takes it from a
 *  ring of this process. */
static inline void nic_engine_owe(struct nic_engine *engine, uint32_t desk)
{
    if (engine->n_owed++ == 0) {
        memset(engine->owed, 0,
               nic_port_words(engine->n_views) * sizeof(engine->owed[0]));
    }
    nic_mark(engine->owed, desk);
    engine->is_in_round |= engine->n_nodes > 1 && !engine->views[desk].is_alone;
}

/** Such an operation is over. */
static inline void nic_engine_settle(struct nic_engine *engine)
{
    if (--engine->n_owed == 0) {
        engine->is_in_round = false;
    }
}

#endif
