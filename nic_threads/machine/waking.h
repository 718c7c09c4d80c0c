/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who is awake, and waking those who sleep: the owners of completed cells, the background
 * thread, and where nodes have crews (crew.h), the threads of the strobes, by the bell of
 * their node.
 */
#ifndef NIC_THREADS_MACHINE_WAKING_H
#define NIC_THREADS_MACHINE_WAKING_H

#include "nic_threads/machine/engine_xfer.h"
#include "nic_threads/node/node.h"

/** Wake the owners of completed cells who sleep. A seq_cst store or fence stands between
 *  the completions and this call. */
void nic_engine_wake(struct nic_view *view);

/** Whether nodes have crews. */
static inline bool nic_engine_has_crews(const struct nic_engine *engine)
{
    return engine->config->driver == NIC_DRIVER_THREADS;
}

/** The event by which a put as the view's node rings the bell of the nodes that it goes to;
 *  none where there are no crews. */
static inline uint64_t nic_bell_gva(const struct nic_view *view)
{
    return nic_engine_has_crews(view->engine) ? NIC_NODE_GVA(view, bell) : 0;
}

/** Ring the bell of another node for what was put there before as the view's node. Nothing
 *  where there are no crews. */
void nic_engine_ring(struct nic_view *view, uint32_t node);

/** Ring the bell of the view's node for what this process has stored there. As above. */
void nic_engine_ring_own(struct nic_view *view);

/** How often the bell of the view's node has rung. Read it, look for work, and only then
 *  nic_engine_await_bell. */
static inline uint64_t nic_engine_n_rings(const struct nic_view *view)
{
    /* acquire: pairs with the signal that follows what it is rung for */
    return __atomic_load_n(&view->node->bell.count, __ATOMIC_ACQUIRE);
}

/** Sleep until the bell may have rung more often than n_rings. */
void nic_engine_await_bell(struct nic_view *view, uint64_t n_rings);

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
