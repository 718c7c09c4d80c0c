/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What arrives: numbered messages of each sender are carried out in their order, the
 * others at once. Under the worker's mutex, from UCX's progress.
 */
#ifndef LIBBCS_FABRIC_TRANSPORT_UCX_UCX_STREAM_H
#define LIBBCS_FABRIC_TRANSPORT_UCX_UCX_STREAM_H

#include "libbcs/fabric/transport/ucx/ucx_state.h"

/** A message has come. If UCX hands it over within another call, it is kept for
 *  ucx_arrive_deferred. @param reply  to its sender; NULL: it wants no answer */
void ucx_arrive(struct ucx_worker *worker, const struct ucx_head *head,
                const void *data, size_t n_bytes, ucp_ep_h reply);

/** Carry out what was kept; called before the mutex is given back. */
void ucx_arrive_deferred(struct ucx_worker *worker);

/** Go on with what waited for nodes that are free again, or for an operation's end. */
void ucx_streams_drain(struct ucx_worker *worker);

/** Free all streams. */
void ucx_streams_fini(struct ucx_worker *worker);

#endif
