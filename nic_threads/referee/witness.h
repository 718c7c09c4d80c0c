/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The witness: a thread in the first process of each machine but the referee's. It
 * answers what the referee asks about the ranks of its machine (question.h).
 */
#ifndef NIC_THREADS_REFEREE_WITNESS_H
#define NIC_THREADS_REFEREE_WITNESS_H

#include "nic_threads/machine/worker.h"

extern const struct nic_worker_ops nic_witness_worker;

#endif
