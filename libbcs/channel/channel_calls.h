/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is behind the entry points of <bcs/channel.h> and <bcs/remote.h> that the MDS
 * records: channels_call_<name> does what bcs_<name> does, and is not recorded.
 * Functions of this folder call these, so that a call of the program's is one.
 */
#ifndef LIBBCS_CHANNEL_CHANNEL_CALLS_H
#define LIBBCS_CHANNEL_CHANNEL_CALLS_H

#include <bcs/channel.h>
#include <bcs/remote.h>

#define CHANNEL_CALL(timing, name, parameters, arguments, BEFORE, AFTER)               \
    int channels_call_##name parameters;
#include "libbcs/channel/channel_calls.def"

#endif
