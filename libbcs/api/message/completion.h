/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completions: looking at a request, and fetching what the engine has completed,
 * without turning the engine or waiting. Called by the process that owns the context,
 * one thread at a time.
 */
#ifndef LIBBCS_API_MESSAGE_COMPLETION_H
#define LIBBCS_API_MESSAGE_COMPLETION_H

#include <bcs/bcs.h>

/**
 * Look whether a request is done, and do this process's part of it; does not turn the
 * engine. Wait for several: loop over bcs_look and bcs_wait_turn.
 */
bool bcs_look(struct bcs_context *context, struct bcs_request *request);

/** The call under way has waited for a collective that does not block, and is done; of
 *  messages bcs_look takes note itself. */
void bcs_note_collective(struct bcs_context *context,
                         const struct bcs_request *request);

/** Mover: do this process's part of the transfers that it has been ordered to take part
 *  in, for whatever request they are. */
void bcs_serve_orders(struct bcs_context *context);

#endif
