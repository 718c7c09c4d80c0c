/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The endpoints' part of moving long messages. Internal to libbcs/api; called by the
 * process that owns the context, from its wait and test calls.
 */
#ifndef BCS_API_TRANSFER_H
#define BCS_API_TRANSFER_H

#include "libbcs/api/attach.h"

/** Receiver of a direct transfer: copy what is granted. @return whether it is over */
bool bcs_transfer_pull(struct bcs_context *context, struct bcs_cell *cell);

/** Sender of a direct transfer: help to copy. @return whether it is over */
bool bcs_transfer_push(struct bcs_context *context, struct bcs_cell *cell,
                       const void *data);

/** Sender: load the chunk that the cell asks for into a block. @return whether it was the
 *  last one; if no block is free nothing happens and the cell stays as it is */
bool bcs_transfer_load(struct bcs_context *context, struct bcs_cell *cell,
                       const void *data);

/** Receiver: store the chunk that the cell hands over. @return whether it was the last */
bool bcs_transfer_store(struct bcs_context *context, struct bcs_cell *cell, void *data);

#endif
