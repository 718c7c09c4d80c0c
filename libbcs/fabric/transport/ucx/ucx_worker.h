/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process's worker of UCX: made once, progressed by whoever waits, and by a thread of
 * its own when nobody does.
 */
#ifndef LIBBCS_FABRIC_TRANSPORT_UCX_UCX_WORKER_H
#define LIBBCS_FABRIC_TRANSPORT_UCX_UCX_WORKER_H

#include "libbcs/fabric/transport/ucx/ucx_state.h"

/** Where a worker is: what others connect by. */
struct ucx_worker_address {
    uint32_t n_bytes;
    uint8_t bytes[420];
};

/**
 * Make the worker of a memory.
 *
 * @return 0 or -errno, logged; end it with ucx_worker_free
 */
int ucx_worker_new(struct ucx_memory *memory, struct ucx_worker **worker_out);

/** The address of a worker. @return 0 or -E2BIG, logged */
int ucx_worker_address(const struct ucx_worker *worker,
                       struct ucx_worker_address *address_out);

/** Note where a node's process is. @return 0 or -ENOMEM, logged */
int ucx_worker_learn(struct ucx_worker *worker, uint32_t node,
                     const struct ucx_worker_address *address);

/** All are known: start the thread. @return 0 or -errno, logged */
int ucx_worker_start(struct ucx_worker *worker);

/** End the thread and free. Accepts NULL. */
void ucx_worker_free(struct ucx_worker *worker);

/** Take the mutex. */
void ucx_worker_lock(struct ucx_worker *worker);

/** Give it back, after what has come meanwhile. */
void ucx_worker_unlock(struct ucx_worker *worker);

/** Let UCX move on, unless another thread does, as a node; see
 *  bcs_core_progress_and_look. */
void ucx_worker_progress(struct ucx_worker *worker, uint32_t node, uint64_t first_gva,
                         uint64_t n_bytes);

/** This thread will not progress for some time: the worker's own is to. */
void ucx_worker_leave(struct ucx_worker *worker);

#endif
