/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which function of MPI the program has called, and from where, of a call that has
 * waited for a while, for those who look at the job (libbcs/api/record/stand_tell.h).
 * Run by the thread that waits.
 */
#ifndef SHIM_CALL_PLACE_H
#define SHIM_CALL_PLACE_H

#include "libbcs/api/record/stand_tell.h"

#pragma GCC visibility push(hidden)

/** Hook: call, frames and lines of where the calling thread stands; what cannot be
 *  found out stays empty. */
void shim_call_place(struct bcs_stand *stand);

#pragma GCC visibility pop

#endif
