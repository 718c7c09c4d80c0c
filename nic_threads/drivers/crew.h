/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The crew of a node: one thread for each role of its NIC engine, the form in which the
 * paper ran it. They live in the first process of the node, and sleep unless a microstrobe
 * gives them something to do. [BCS-MPI section 4.1]
 */
#ifndef NIC_THREADS_DRIVERS_CREW_H
#define NIC_THREADS_DRIVERS_CREW_H

#include "nic_threads/node/engine.h"

struct nic_crew;

/**
 * Start the crew of a node; on node 0 with the strobe sender. All nodes must be set up.
 *
 * @param params  of the node's first process; what it points to must outlive the crew
 * @return 0 or -errno, logged; end with nic_crew_stop
 */
int nic_crew_start(const struct nic_engine_params *params, struct nic_crew **crew_out);

/** End the threads; waits for them. Accepts NULL. */
void nic_crew_stop(struct nic_crew *crew);

#endif
