/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who is awake, and waking those who sleep: the owners of completed cells, the
 * background thread, and by the bell of a node whoever waits for it: the threads of the
 * strobes where nodes have crews (crew.h), and the thread that serves a node which is
 * far to some others (far_progress.h).
 */
#ifndef NIC_THREADS_MACHINE_WAKING_H
#define NIC_THREADS_MACHINE_WAKING_H

#include "nic_threads/machine/engine_xfer.h"
#include "nic_threads/node/node.h"

/** Wake the owners of completed cells who sleep. A seq_cst store or fence stands
 *  between the completions and this call. */
void nic_engine_wake(struct nic_view *view);

/** Whether nodes have crews. */
static inline bool nic_engine_has_crews(const struct nic_engine *engine)
{
    return engine->config->driver == NIC_DRIVER_THREADS;
}

/** Whether somebody waits for the bell of some node. */
static inline bool nic_engine_has_bells(const struct nic_engine *engine)
{
    return nic_engine_has_crews(engine) || nic_engine_has_far(engine);
}

/** Whether what is put at a node has to be told by the node's bell: there is a crew, or
 *  the node is far, and no process here can turn its desks. */
static inline bool nic_engine_rings(const struct nic_engine *engine, uint32_t node)
{
    return nic_engine_has_crews(engine) || !nic_engine_is_near(engine, node);
}

/** The event by which a put as the view's node to another one rings the bell there; 0:
 *  it must not be rung. */
static inline uint64_t nic_bell_gva(const struct nic_view *view, uint32_t node)
{
    return nic_engine_rings(view->engine, node) ? NIC_NODE_GVA(view, bell) : 0;
}

/** Ring the bell of another node for what was put there before as the view's node, if
 *  that has to be told. */
void nic_engine_ring(struct nic_view *view, uint32_t node);

/** Ring the bell of the view's node for what this process has stored there. Nothing
 *  where nobody waits for bells. */
void nic_engine_ring_own(struct nic_view *view);

/** How often the bell of the view's node has rung. Read it, look for work, and only
 *  then nic_engine_await_bell. */
static inline uint64_t nic_engine_n_rings(const struct nic_view *view)
{
    /* acquire: pairs with the signal that follows what it is rung for */
    return __atomic_load_n(&view->node->bell.count, __ATOMIC_ACQUIRE);
}

/** Sleep until the bell may have rung more often than n_rings. */
void nic_engine_await_bell(struct nic_view *view, uint64_t n_rings);

/** Call the processes of this machine to work that is not ours, also those that sleep,
 *  but not the one that calls; see libbcs/api/message/external.h. @param now_ns on the
 *  clock of bcs_clock_now_ns */
void nic_engine_call_near(const struct nic_engine *engine, uint64_t now_ns);

/** Have the processes of other machines called likewise, each by a thread of its
 *  machine. Any thread. @param now_ns not what it was at the last call */
void nic_engine_call_far(const struct nic_engine *engine, uint64_t now_ns);

/** Have the background thread look after work that nobody may be waiting for, published
 *  before. Costs a system call if it has to be woken. */
void nic_engine_watch(const struct nic_engine *engine);

/** Whether fewer processes are awake than there are cores: of this job, and of those of
 *  the same user that share them. */
bool nic_engine_has_idle_core(const struct nic_engine *engine);

/** Whether more of them are awake than there are cores. */
bool nic_engine_is_crowded(const struct nic_engine *engine);

/** Whether threads that this cannot count may need the cores besides. */
static inline bool nic_engine_has_helpers(const struct nic_engine *engine)
{
    return engine->is_threaded || nic_engine_has_crews(engine);
}

#endif
