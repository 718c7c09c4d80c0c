/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting, as all API calls do it: loop over a look at what is wanted and
 * bcs_wait_turn, then bcs_wait_stop. Whoever waits or tests moves on what else is
 * pending in this process: what that is stands in one list, context->movers (movers.c),
 * so that nothing here has to know it. Called by the process that owns the context, one
 * thread at a time.
 */
#ifndef LIBBCS_API_MESSAGE_WAIT_H
#define LIBBCS_API_MESSAGE_WAIT_H

#include <bcs/bcs.h>

#include "libbcs/fabric/base/waiter.h"

/** Numbers of calls for bcs_wait_for_members are less. */
enum { BCS_CALLS_MOST = 8192 };

/** So many turns of waits, at most, are between two looks at what is not ours. */
enum { BCS_TURNS_A_LOOK = 128 };

/** Move what can be moved at once, for a caller that polls: it then looks once more if
 *  something may have come of it, and calls bcs_wait_in_vain if it finds nothing.
 *  @return whether it may */
bool bcs_progress(struct bcs_context *context);

/** One turn of a wait, with what else has to happen meanwhile in this process. @return
 *  whether the wait has lasted for a while, so that the caller should tell where it
 *  stands (stand_tell.h), and look again */
bool bcs_wait_turn(struct bcs_context *context, struct bcs_waiter *waiter);

/** A caller that polls has found nothing: look elsewhere and yield the core now and
 *  then. */
void bcs_wait_in_vain(struct bcs_context *context);

/** The wait is over, or is given up. */
void bcs_wait_stop(struct bcs_context *context, struct bcs_waiter *waiter);

/** Wait until all members of a group are here, at the end of their work. @return 0, or
 *  BCS_E_DISAGREED: others are in another collective of the group, and have been
 *  refused; call it again */
int bcs_wait_for_end(struct bcs_context *context, struct bcs_group *group);

/**
 * Wait until all members of a group are in the same call of the caller's own, which is
 * collective and which the API does not carry.
 *
 * @param call  a number of the caller's own, which hooks.name_call names; below
 *              BCS_CALLS_MOST
 * @return 0, or BCS_E_DISAGREED: others are in another collective (logged)
 */
int bcs_wait_for_members(struct bcs_context *context, struct bcs_group *group,
                         unsigned int call);

/** From now on there is something to look after whose processes cannot call this one:
 *  waits wake up now and then, until bcs_wait_sleep_long has been called as often. */
void bcs_wait_sleep_short(struct bcs_context *context);

/** That is over. */
void bcs_wait_sleep_long(struct bcs_context *context);

#endif
