/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress for what far nodes put at a node: a thread that waits for the node's bell
 * and turns the desks of its machine. It has an engine of its own.
 */
#ifndef NIC_THREADS_SERVICE_FAR_PROGRESS_H
#define NIC_THREADS_SERVICE_FAR_PROGRESS_H

#include "nic_threads/machine/worker.h"

extern const struct nic_worker_ops nic_far_progress_worker;

#endif
