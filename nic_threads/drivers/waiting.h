/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A wait of a port's owner (libbcs/fabric/base/waiter.h), turn by turn: what the
 * drivers' own kinds of waiting have in common. See the parking argument in
 * driver_inline.c. Everything runs in the thread that waits.
 */
#ifndef NIC_THREADS_DRIVERS_WAITING_H
#define NIC_THREADS_DRIVERS_WAITING_H

#include "libbcs/fabric/base/waiter.h"
#include "nic_threads/node/node.h"

/** Mark the waiting process as asleep. It must look once more before it sleeps. */
void nic_waiter_announce(struct nic_engine *engine, struct bcs_waiter *waiter);

/** End the announcement, and start the waiter anew. */
void nic_waiter_take_back(struct nic_engine *engine, struct bcs_waiter *waiter);

/**
 * `wait_for_room` where threads run the engine, and waiters do not: announce, let the
 * caller look, sleep.
 *
 * @param kick  called after the announcement, as what was posted just before a wait has
 *              not been kicked
 */
void nic_waiter_rest(struct nic_engine *engine, struct bcs_waiter *waiter,
                     void (*kick)(struct nic_engine *engine, uint32_t reader));

/** `turn` of the same drivers. Between timed strobes a waiter with a core to itself
 *  polls first, as most waits are over in some slices. */
void nic_waiter_turn(struct nic_engine *engine, struct bcs_waiter *waiter,
                     void (*kick)(struct nic_engine *engine, uint32_t reader));

/** `stop` of the same drivers: end the announcement if there is one. */
void nic_waiter_stop(struct nic_engine *engine, struct bcs_waiter *waiter);

/** While slices are recorded: say whether the process polls for a completion. */
void nic_waiter_show(const struct nic_engine *engine, bool is_polling);

/** A wait of this thread's has been left without an end: let go of what it has, but for
 *  the core that it has lent. */
void nic_waiter_abandon(struct nic_engine *engine);

/** Let go of the engine's lock, if the waiter keeps it between two turns. */
void nic_waiter_let_go(struct nic_engine *engine, struct bcs_waiter *waiter);

/** Sleep until something is completed for this process, or for sleep_ns; then the
 *  announcement stands, and the next turn sleeps again. */
void nic_waiter_sleep(struct nic_engine *engine, struct bcs_waiter *waiter);

#endif
