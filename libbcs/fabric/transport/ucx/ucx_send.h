/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sending: endpoints, made at the first message, and records of what is under way. All
 * under the worker's mutex; may be called while UCX hands a message over.
 */
#ifndef LIBBCS_FABRIC_TRANSPORT_UCX_UCX_SEND_H
#define LIBBCS_FABRIC_TRANSPORT_UCX_UCX_SEND_H

#include "libbcs/fabric/transport/ucx/ucx_state.h"

/** Whether so much is under way that a caller should come again. */
bool ucx_is_full(const struct ucx_worker *worker);

/** A record of a message without data. @return NULL: no memory, logged */
struct ucx_record *ucx_record_new(struct ucx_worker *worker, enum ucx_kind kind);

/** Data of a record: copied if they are short, or if they may go away. @return 0 or
 *  -ENOMEM, logged; the record is then free */
int ucx_record_data(struct ucx_record *record, const void *data, size_t n_bytes,
                    bool is_lasting);

/**
 * Send a record, which is then the worker's, to a peer; number it if its kind is.
 *
 * @return 0 or -EOWNERDEAD: the peer is dead
 */
int ucx_send(struct ucx_record *record, struct ucx_peer *peer);

/** Answer a message that has a token. Who cannot be reached any more gets nothing. */
void ucx_answer(struct ucx_worker *worker, ucp_ep_h reply, const struct ucx_head *asked,
                int64_t result);

/** An answer has come. */
void ucx_answered(struct ucx_worker *worker, const struct ucx_head *head);

/** A peer is dead: tell those who wait for its answers. */
void ucx_fail_waiting(struct ucx_worker *worker);

/** Have all that was sent to a peer answered. @return whether it has been already, or
 *  the peer is dead */
bool ucx_fence(struct ucx_worker *worker, struct ucx_peer *peer, uint64_t number);

/** Free all records and endpoints. The worker of UCX is there still. */
void ucx_send_fini(struct ucx_worker *worker);

#endif
