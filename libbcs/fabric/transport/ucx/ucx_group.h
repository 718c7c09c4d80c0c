/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations of several nodes, or that ask: transfers to a set, and Compare-And-Write.
 * Under the worker's mutex, from UCX's progress.
 */
#ifndef LIBBCS_FABRIC_TRANSPORT_UCX_UCX_GROUP_H
#define LIBBCS_FABRIC_TRANSPORT_UCX_UCX_GROUP_H

#include "libbcs/fabric/transport/ucx/ucx_state.h"

/** Whether this process holds a node for an operation. */
bool ucx_is_held(const struct ucx_worker *worker, uint32_t node);

/** At the sequencer: an operation is asked for, and starts when those before it have
 *  ended. Its end counts the message in its stream. */
void ucx_job_add(struct ucx_worker *worker, struct ucx_stream *stream,
                 const struct ucx_head *asked, const void *operation, size_t n_bytes,
                 ucp_ep_h reply);

/** A message of the sequencer or of a holder has come. */
void ucx_group_arrive(struct ucx_worker *worker, const struct ucx_head *head,
                      const void *data, size_t n_bytes);

/** Peers have died: go on without them. */
void ucx_group_bury(struct ucx_worker *worker);

/** Free what is left; let held nodes go. */
void ucx_group_fini(struct ucx_worker *worker);

#endif
