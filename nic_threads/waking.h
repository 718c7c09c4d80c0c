/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who is awake, and waking those who sleep: the owners of completed cells, and the background
 * thread.
 */
#ifndef NIC_THREADS_WAKING_H
#define NIC_THREADS_WAKING_H

#include "nic_threads/node.h"

/** Wake the owners of completed cells who sleep. A seq_cst store or fence stands between
 *  the completions and this call. */
void nic_engine_wake(struct nic_view *view);

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
    return engine->is_threaded || engine->config->driver == NIC_DRIVER_THREADS;
}

#endif
