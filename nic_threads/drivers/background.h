/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The background thread of a machine: it carries on what is pending while no process
 * waits. It lives in the job's first process and serves all nodes of the machine.
 */
#ifndef NIC_THREADS_DRIVERS_BACKGROUND_H
#define NIC_THREADS_DRIVERS_BACKGROUND_H

#include "nic_threads/node/engine.h"

struct nic_background;

/**
 * Start the thread. It has an engine of its own on the same memory.
 *
 * @param params  as for the process's own engine; what it points to must outlive the thread
 * @return 0 or -errno, logged; end with nic_background_stop
 */
int nic_background_start(const struct nic_engine_params *params,
                         struct nic_background **background_out);

/** End the thread; waits for it. Accepts NULL. */
void nic_background_stop(struct nic_background *background);

#endif
