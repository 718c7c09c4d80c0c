/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of api_call_kinds.h.
 */
#include "libbcs/api/context/api_call_kinds.h"

static const char *const names[BCS_N_CALLS] = {
#define BCS_CALL(name, mark, blocks, parameters, arguments, BEFORE, AFTER)             \
    "bcs_" #name, "bcs_" #name mark,
#include "libbcs/api/context/api_calls.def"
};

/* Where there is no mark, the first one never blocks, and the second one is not
 * recorded. */
const enum mds_timing bcs_call_timings[BCS_N_CALLS] = {
#define BCS_CALL(name, mark, blocks, parameters, arguments, BEFORE, AFTER)             \
    sizeof(mark) > 1 ? MDS_BLOCKING : MDS_INSTANT, MDS_INSTANT,
#include "libbcs/api/context/api_calls.def"
};

_Static_assert((int)BCS_N_CALLS <= MDS_MAX_PRIMITIVES, "all have numbers");

struct mmds_plan bcs_calls_plan(void)
{
    return (struct mmds_plan){
        .names = names,
        .timings = bcs_call_timings,
        .n_primitives = BCS_N_CALLS,
    };
}
