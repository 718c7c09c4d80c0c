/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ends whose other end is on another machine: telling it what is new. Called by
 * channel_wait.c, in the thread that uses the end.
 */
#ifndef LIBBCS_CHANNEL_FAR_END_H
#define LIBBCS_CHANNEL_FAR_END_H

#include "libbcs/channel/channel_state.h"

/** Put what was marked last into the place of a reader that is far. */
void channel_far_publish(struct channel_out *out);

/** Put the count of freed blocks into the place of a writer that is far. */
void channel_far_give_back(struct channel_in *in);

#endif
