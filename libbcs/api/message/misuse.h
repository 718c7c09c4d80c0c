/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Telling the user of calls that the MPI standard forbids, when they have come to an
 * error: first a line that says what and who, then a line for those who are in it, with
 * call and place, by bcs-top as in the report of a deadlock. Before the error is
 * raised, so that there is still somebody to look at. A process tells of ten errors,
 * the first ones. Called by the process that owns the context, in the call.
 */
#ifndef LIBBCS_API_MESSAGE_MISUSE_H
#define LIBBCS_API_MESSAGE_MISUSE_H

#include "libbcs/api/context/group.h"
#include "libbcs/fabric/base/waiter.h"

struct bcs_result;

/** Whether this process tells of one more. Then it calls one of those below, which say
 *  if it was the last. */
bool bcs_misuse_is_told(struct bcs_context *context);

/** Publish in which call this process is, unless it waits and has, for
 *  bcs_misuse_show_own in another thread. @param waiter zeroed; then for
 *  bcs_misuse_withdraw */
void bcs_misuse_stand(struct bcs_context *context, struct bcs_waiter *waiter);

/** Take it back, if it was published. */
void bcs_misuse_withdraw(struct bcs_context *context, struct bcs_waiter *waiter);

/** Print in which call this process is, and from where. @param group that the call is
 *  about, or NULL */
void bcs_misuse_show_own(struct bcs_context *context, const struct bcs_group *group);

/**
 * All members of a group are in a call that fails: one of them prints the calls of all,
 * and the others stay until it has, for a second at most.
 *
 * @param key       the same at all of them, and of no other call soon
 * @param is_first  whether this is the one that prints
 */
void bcs_misuse_show_all(struct bcs_context *context, const struct bcs_group *group,
                         uint64_t key, bool is_first);

/**
 * A receive of the program has got a longer message than it has room for: print what
 * was sent and where it should have gone.
 *
 * @param peers  of whom result->source is one; NULL: their communicator has been freed
 */
void bcs_misuse_truncation(struct bcs_context *context, const struct bcs_group *peers,
                           const struct bcs_result *result);

/**
 * All processes are at the end of their work: print what this one has not received of
 * others' collectives, which it has not called, or not alike; one rank of the machine
 * does. Nothing if this one has told of errors, or has collectives of its own under
 * way.
 *
 * @param group  one that has a name
 */
void bcs_misuse_left(struct bcs_context *context, const struct bcs_group *group);

#endif
