/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a send that waits is told to, while calls are recorded or buffers watched.
 * Called by p2p_calls.c, under the lock.
 */
#ifndef SHIM_WATCH_SEND_H
#define SHIM_WATCH_SEND_H

#pragma GCC visibility push(hidden)

struct shim_call;
struct shim_comm;
struct shim_datatype;

/** Tell the MDS and the referee of a send whose arguments are valid. */
void shim_watch_send(const struct shim_call *call, struct shim_comm *comm,
                     const struct shim_datatype *type);

#pragma GCC visibility pop

#endif
