/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds out, with BCS_REFEREE_BUFFERS, when a program changes the buffer of an
 * operation that is pending: the data are hashed when it is posted and when it is
 * completed. What a receive gets lies apart until then, so that nobody but the program
 * touches its buffer. Called by entry points and by request.c, under the lock.
 */
#ifndef SHIM_BUFFERS_H
#define SHIM_BUFFERS_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

struct shim_call;
struct shim_comm;
struct shim_datatype;
struct shim_request;

/** Start to look. @return 0 or -ENOMEM */
int shim_buffers_start(void);

/** The program has posted an operation, by the call under way: keep what its buffers
 *  hold, and tell if they are in use. */
void shim_buffers_post(const struct shim_request *request);

/** An operation is over, and its data are not where they belong yet: tell if its
 *  buffers are not what they were. Does nothing if they are not watched. */
void shim_buffers_check(const struct shim_request *request);

/** The program sends by a call that waits: tell if the buffer is one of a pending
 *  receive. */
void shim_buffers_use(const struct shim_call *call, const struct shim_comm *comm,
                      const struct shim_datatype *type);

/** The program has let go of an operation: when it will be over, nobody can tell. */
void shim_buffers_forget(const struct shim_request *request);

/** Say how often more was found than was told, and stop looking. */
void shim_buffers_stop(void);

#pragma GCC visibility pop

#endif
