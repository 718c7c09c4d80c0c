/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Telling that a process polls, for those who look at the job; see stand_poll.c. Used
 * by the thread that has the context.
 */
#ifndef LIBBCS_API_RECORD_STAND_POLL_H
#define LIBBCS_API_RECORD_STAND_POLL_H

#include "libbcs/api/context/group.h"

/** The calling thread polls, and has found nothing for some looks. Called now and
 *  then. */
void bcs_stand_poll(struct bcs_context *context);

/** A thread waits: no longer tell that the process polls. */
void bcs_stand_poll_over(struct bcs_context *context);

#endif
