/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A context that is used otherwise than by one thread, one call after the other: by
 * threads of which it was not known before, by a handler of a signal within a call, and
 * after a call that was left by longjmp. Called by whoever owns the context, but where
 * it says otherwise.
 */
#ifndef LIBBCS_API_MESSAGE_TURNS_H
#define LIBBCS_API_MESSAGE_TURNS_H

#include <stdbool.h>

#include "libbcs/api/context/hooks.h"

struct bcs_context;

/** Ask the thread that is in the context to let others in. By another thread. */
void bcs_context_ask_in(struct bcs_context *context, const struct bcs_turns *turns);

/** Wake the thread that has been asked, if it sleeps. By another thread. */
void bcs_context_wake_referee(struct bcs_context *context);

/** From now on several threads take turns. The one that was asked has let this one
 *  in. */
void bcs_context_take_turns(struct bcs_context *context);

/** A call within another one of the same thread begins, or the last such call has
 *  ended: what it waits for is not told. */
void bcs_context_nest(struct bcs_context *context, bool is_nested);

/**
 * The last call of this thread has been left without an end: give back what its wait
 * has taken, the desk's lock, its sleep, where it stood. What it has posted with a
 * request on its stack is of nobody: receives are taken back, if no message has come.
 */
void bcs_context_abandon(struct bcs_context *context);

#endif
