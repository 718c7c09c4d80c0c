/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The background thread of a machine: it carries on what is pending while no process
 * waits, for all nodes of the machine. It has an engine of its own on their memory.
 */
#ifndef NIC_THREADS_SERVICE_BACKGROUND_H
#define NIC_THREADS_SERVICE_BACKGROUND_H

#include "nic_threads/machine/worker.h"

extern const struct nic_worker_ops nic_background_worker;

#endif
