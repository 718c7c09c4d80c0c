/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The endpoints' part of moving long messages. Internal to libbcs/api; called by the
 * process that owns the context, from its wait and test calls.
 */
#ifndef LIBBCS_API_MESSAGE_TRANSFER_H
#define LIBBCS_API_MESSAGE_TRANSFER_H

#include "libbcs/api/context/context.h"

/** Receiver, within a node: copy what it can. @return whether the transfer is over */
bool bcs_transfer_pull(struct bcs_context *context, struct bcs_cell *cell,
                       const struct bcs_request *request);

/** Sender, within a node: copy what it can. @return whether the transfer is over */
bool bcs_transfer_push(struct bcs_context *context, struct bcs_cell *cell,
                       const struct bcs_request *request);

/** Sender: load the chunk that the cell asks for into a block. @return whether it was
 *  the last one; if no block is free nothing happens and the cell stays as it is */
bool bcs_transfer_load(struct bcs_context *context, struct bcs_cell *cell,
                       const struct bcs_request *request);

/** Receiver: store the chunk that the cell hands over. @return whether it was the
 *  last */
bool bcs_transfer_store(struct bcs_context *context, struct bcs_cell *cell,
                        const struct bcs_request *request);

/** Copy n_bytes of a receive's data, from a position on, to where they belong. */
void bcs_request_store(const struct bcs_request *request, size_t position,
                       size_t n_bytes, const void *from);

#endif
