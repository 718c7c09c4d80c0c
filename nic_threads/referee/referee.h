/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The referee: a thread of the machine's first process that finds deadlocks, by proof
 * (docs/referee.md). What becomes of a verdict is the business of who has opened the
 * service (nic_engine_params.on_deadlock).
 */
#ifndef NIC_THREADS_REFEREE_REFEREE_H
#define NIC_THREADS_REFEREE_REFEREE_H

#include "nic_threads/machine/worker.h"

extern const struct nic_worker_ops nic_referee_worker;

#endif
