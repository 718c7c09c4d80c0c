/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The crew of a node: one thread for each role of its NIC engine, the form in which the
 * paper ran it. They live in the first process of the node, and sleep unless a
 * microstrobe gives them something to do. [BCS-MPI section 4.1]
 */
#ifndef NIC_THREADS_SERVICE_CREW_H
#define NIC_THREADS_SERVICE_CREW_H

#include "nic_threads/machine/worker.h"
#include "nic_threads/roles/roles.h"

/** The crew's threads: the roles that are carried out for the strobe receiver, in the
 *  order of enum nic_role, and then the strobe receiver, and on node 0 the strobe
 *  sender. */
enum { NIC_CREW_SR = NIC_ROLES, NIC_CREW_SS };

extern const struct nic_worker_ops nic_crew_worker;

#endif
