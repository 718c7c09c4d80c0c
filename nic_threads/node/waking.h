/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who is awake, and waking those who sleep: the owners of completed cells, the background
 * thread, and where nodes have crews (crew.h), the threads of the strobes.
 */
#ifndef NIC_THREADS_NODE_WAKING_H
#define NIC_THREADS_NODE_WAKING_H

#include "nic_threads/node/node.h"

/** Wake the owners of completed cells who sleep. A seq_cst store or fence stands between
 *  the completions and this call. */
void nic_engine_wake(struct nic_view *view);

/** Whether nodes have crews. */
static inline bool nic_engine_has_crews(const struct nic_engine *engine)
{
    return engine->config->driver == NIC_DRIVER_THREADS;
}

/** End the parking of a crew's thread, if it sleeps: for what was stored before. See crew.c. */
static inline void nic_park_ring(_Atomic uint32_t *park)
{
    atomic_thread_fence(memory_order_seq_cst); /* partner of the announcement */
    bcs_park_wake(park);
}

/** Wake one node's strobe receiver, for a descriptor that was published before, or a credit
 *  that was put as the view's node. Nothing where there are no crews. */
void nic_engine_ring_receiver(struct nic_view *view, uint32_t node);

/** Wake the strobe sender, for a demand or a completed microphase of the view's node. As
 *  above. */
void nic_engine_ring_sender(struct nic_view *view);

/** Have the background thread look after work that nobody may be waiting for, published
 *  before. Costs a system call if it has to be woken. */
void nic_engine_watch(const struct nic_engine *engine);

/** Whether fewer of the job's processes are awake than there are cores. */
bool nic_engine_has_idle_core(const struct nic_engine *engine);

/** Whether more of them are awake than there are cores. */
bool nic_engine_is_crowded(const struct nic_engine *engine);

/** Whether threads that this cannot count may need the cores besides. */
static inline bool nic_engine_has_helpers(const struct nic_engine *engine)
{
    return engine->is_threaded || nic_engine_has_crews(engine);
}

#endif
