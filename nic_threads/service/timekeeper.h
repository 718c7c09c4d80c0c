/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The timekeeper: where processes do not run the engine and strobes are timed, it runs
 * the slice of all nodes of the machine at each strobe. It has an engine of its own.
 */
#ifndef NIC_THREADS_SERVICE_TIMEKEEPER_H
#define NIC_THREADS_SERVICE_TIMEKEEPER_H

#include "nic_threads/machine/worker.h"

extern const struct nic_worker_ops nic_timekeeper_worker;

#endif
