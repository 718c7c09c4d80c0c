/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receiving a message that is at hand (nic_threads/drivers/take_at_hand.h). Internal to
 * libbcs/api; called by the process that owns the context.
 */
#ifndef LIBBCS_API_MESSAGE_RECEIVE_AT_HAND_H
#define LIBBCS_API_MESSAGE_RECEIVE_AT_HAND_H

#include "libbcs/api/context/context.h"

/**
 * Receive a short message of a named source that is there, or comes soon, if this
 * process has nothing else under way.
 *
 * @param result_out  as of bcs_recv, with its error
 * @return false: nothing has happened; post the receive
 */
bool bcs_take_at_hand(struct bcs_context *context, const struct bcs_message *message,
                      struct bcs_result *result_out);

#endif
