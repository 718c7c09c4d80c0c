/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Point-to-point calls: each becomes a descriptor in the caller's port. All buffers are
 * contiguous bytes. Called by the process that owns the context. [BCS-MPI table 4.1]
 */
#ifndef BCS_API_P2P_H
#define BCS_API_P2P_H

#include "libbcs/api/context.h"

/** One message, as its sender or its receiver describes it. */
struct bcs_message {
    const struct bcs_group *group;
    uint64_t context_id; /* group->context_id, or + 1 inside collectives */
    void *data;
    size_t n_bytes;
    int32_t peer; /* rank in the group; receive: or BCS_ANY_SOURCE */
    int32_t tag;  /* >= 0; receive: or BCS_ANY_TAG */
    bool will_wait; /* send: the caller does nothing else until it is done */
};

enum bcs_send_mode {
    BCS_SEND_STANDARD,    /* done when the buffer may be reused */
    BCS_SEND_SYNCHRONOUS, /* done when the receive has been matched, too */
};

/**
 * Start a send. request_out is filled; if it is_done on return nothing is pending and
 * nothing needs to be waited for. The data stay the caller's until it is done.
 *
 * @return 0   started or done
 * @return <0  -errno (ENOMEM: more than BCS_DESCRIPTORS operations are pending)
 */
int bcs_isend(struct bcs_context *context, const struct bcs_message *message,
              enum bcs_send_mode mode, struct bcs_request *request_out);

/** Start a receive; see bcs_isend. A longer message sets result.error when done. */
int bcs_irecv(struct bcs_context *context, const struct bcs_message *message,
              struct bcs_request *request_out);

/** Wait until a request is done; returns at once if it is. @return 0 or -errno */
int bcs_wait(struct bcs_context *context, struct bcs_request *request);

/** Look whether a request is done, after at most one turn of the engine. */
bool bcs_test(struct bcs_context *context, struct bcs_request *request);

/** bcs_isend and bcs_wait in one. @return 0 or -errno */
int bcs_send(struct bcs_context *context, const struct bcs_message *message,
             enum bcs_send_mode mode);

/** bcs_irecv and bcs_wait in one. @return 0, BCS_E_TRUNCATED, or -errno */
int bcs_recv(struct bcs_context *context, const struct bcs_message *message,
             struct bcs_result *result_out);

/**
 * Look whether a request is done, and do this process's part of it; does not turn the
 * engine. Wait for several: loop over bcs_look and bcs_wait_turn.
 */
bool bcs_look(struct bcs_context *context, struct bcs_request *request);

/** One turn of the engine, for a caller that polls; yields the core now and then. */
void bcs_progress(struct bcs_context *context);

/** Ask for a pending receive to be taken back. It is done afterwards either way: with
 *  BCS_E_CANCELLED, or as if nothing had been asked. Sends are not taken back. */
void bcs_cancel(struct bcs_context *context, const struct bcs_request *request);

/** How to probe. */
struct bcs_probe {
    bool is_waiting; /* until there is a message */
    bool is_taking;  /* take the message out of matching, for bcs_imrecv */
};

/**
 * Look for a message that a receive of message->peer and ->tag would get; its data stay
 * where they are. n_bytes and data of message are not used.
 *
 * @param item_out  the message's name for bcs_imrecv, if it was taken
 * @return 0              found; result_out says what
 * @return BCS_E_PENDING  none, and not waiting
 * @return <0             -errno
 */
int bcs_probe(struct bcs_context *context, const struct bcs_message *message,
              const struct bcs_probe *probe, struct bcs_result *result_out,
              uint32_t *item_out);

/** Start to receive a message that bcs_probe has taken; see bcs_irecv. */
int bcs_imrecv(struct bcs_context *context, const struct bcs_message *message,
               uint32_t item, struct bcs_request *request_out);

#endif
