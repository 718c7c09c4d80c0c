/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the MDS can record of a program that uses <bcs/bcs.h>: numbers and names, from
 * api_calls.def. Internal to libbcs/api; in the thread that uses the context.
 */
#ifndef LIBBCS_API_CONTEXT_API_CALL_KINDS_H
#define LIBBCS_API_CONTEXT_API_CALL_KINDS_H

#include <bcs/bcs.h>

#include "libbcs/session/run_recorder.h"
#include "mds/origin.h"

/** Numbers of what is recorded: the marked name of a function follows the other one. */
enum bcs_call {
#define BCS_CALL(name, mark, blocks, parameters, arguments, BEFORE, AFTER)             \
    BCS_CALL_##name, BCS_CALL_##name##_marked,
#include "libbcs/api/context/api_calls.def"
    BCS_N_CALLS
};

/** What the time inside each of them is. */
extern const enum mds_timing bcs_call_timings[BCS_N_CALLS];

/** Names and timings of all of them, to record them by. */
struct mmds_plan bcs_calls_plan(void);

#endif
