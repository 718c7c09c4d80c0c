/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the MPI shim needs of point-to-point communication beyond <bcs/bcs.h>: how data
 * with gaps go best, taking receives back, matched probes.
 * Internal; called by the process that owns the context.
 */
#ifndef LIBBCS_API_MESSAGE_P2P_H
#define LIBBCS_API_MESSAGE_P2P_H

#include "libbcs/api/context/group.h"

/** Whether a message describes what can be received or probed for. */
static inline bool bcs_message_is_receivable(const struct bcs_message *message)
{
    return ((uint32_t)message->peer < (uint32_t)message->group->size ||
            message->peer == BCS_ANY_SOURCE) &&
           message->tag >= BCS_ANY_TAG;
}

/** Log what is wrong with the message of a call. @return -EINVAL */
int bcs_message_refuse(const char *call, const struct bcs_message *message);

/** Whether n_bytes with gaps had better be sent from, or received into, a copy without
 *  them: long data with timed strobes, where a thread copies what is contiguous, in
 *  many pieces a slice, while both processes do other things. */
bool bcs_wants_copy(const struct bcs_context *context, size_t n_bytes);

/** Ask for a pending receive to be taken back. It is done afterwards either way: with
 *  BCS_E_CANCELLED, or as if nothing had been asked. Not of a send. */
void bcs_cancel(struct bcs_context *context, const struct bcs_request *request);

/** Right after bcs_cancel: wait until the receive is done, but after the engine has
 *  carried out the cancellation for two slices at most: one that has been matched
 *  before may need more of its sender. */
void bcs_cancel_wait(struct bcs_context *context, struct bcs_request *request);

/**
 * Take a send back, be it done for its sender, if neither a receive nor a matched probe
 * has it: then it is done with BCS_E_CANCELLED, and nobody gets it. Else it goes on as
 * if nothing had been asked. What the receiver's process does meanwhile has no part in
 * how long that takes: with a receiver on another machine a round trip to its node.
 *
 * @param request  as bcs_send has made it, and known to nobody else
 * @param port     of the receiver
 * @return whether it was taken back
 */
bool bcs_cancel_send(struct bcs_context *context, struct bcs_request *request,
                     uint32_t port);

/**
 * bcs_probe that takes the message out of matching, for bcs_imrecv. It is the caller's
 * when this returns: no later receive or probe of this process gets it.
 *
 * @param item_out  the message's name
 */
int bcs_mprobe(struct bcs_context *context, const struct bcs_message *message,
               bool wait, struct bcs_result *result_out, uint32_t *item_out);

/** Start to receive a message that bcs_mprobe has taken; as bcs_recv with a request. */
int bcs_imrecv(struct bcs_context *context, const struct bcs_message *message,
               uint32_t item, struct bcs_request *request);

#endif
