/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entry points of <bcs/cbsp.h> that the MDS records, made from call_kinds.def, and
 * what BSPlib needs for its own. Two tests of a pointer where nothing is recorded. A
 * call within a call, as in a handler, is part of the outer one, but its messages
 * count.
 */
#include "libbcs/cbsp/cbsp_calls.h"

#include <string.h>

#include "libbcs/cbsp/notes.h"
#include "libbcs/cbsp/raw.h"
#include "libbcs/session/run_recorder.h"

static const char *const names[CBSP_N_CALLS] = {
#define CBSP_CALL(timing, name, parameters, arguments, NOTE) "cBSP_" #name,
#define CBSP_BSPLIB_CALL(timing, name, parameters, arguments, n_bytes) "bsp_" #name,
#define CBSP_BSPLIB_OTHER(timing, name) "bsp_" #name,
#include "libbcs/cbsp/call_kinds.def"
};

static const enum mds_timing timings[CBSP_N_CALLS] = {
#define CBSP_CALL(timing, name, parameters, arguments, NOTE) MDS_##timing,
#define CBSP_BSPLIB_CALL(timing, name, parameters, arguments, n_bytes) MDS_##timing,
#define CBSP_BSPLIB_OTHER(timing, name) MDS_##timing,
#include "libbcs/cbsp/call_kinds.def"
};

void cbsp_calls_record(struct cbsp *cbsp)
{
    struct mmds_plan plan = {
        .names = names,
        .timings = timings,
        .n_primitives = CBSP_N_CALLS,
    };
    struct mds_collect *collect;

    cbsp->recorder = bcs_recorder_start(&cbsp->entry, cbsp->n_procs, &plan);
    collect = bcs_recorder_collect(cbsp->recorder);
    if (collect != NULL) {
        strcpy(collect->comms.table[mds_comm_number(collect, 1, cbsp->n_procs)].name,
               "cBSP");
    }
    cbsp->collect = collect;
}

void cbsp_calls_stop(struct cbsp *cbsp)
{
    cbsp->collect = NULL;
    bcs_recorder_stop(cbsp->recorder);
}

/* What is recorded of a call beside its time. */
#define CALL_NOTHING
#define CALL_SIZE(length) mds_size_add_outermost(length);
#define CALL_COUNTING                                                                  \
    mds_call_with(collect, -1, cbsp_note_tag(cbsp_self->superstep), CBSP_NOTE_COMM);
#define CALL_COLLECTIVE(length)                                                        \
    mds_size_add_outermost(length);                                                    \
    cbsp_note_collective(cbsp_self, length);

/* The recorded way stands apart, so that the other one needs no registers. */
#define CBSP_CALL(timing, name, parameters, arguments, NOTE)                           \
    static __attribute__((noinline, cold)) int recorded_##name parameters              \
    {                                                                                  \
        struct mds_collect *collect = cbsp_self->collect;                              \
        uint64_t began = mds_begin(collect, CBSP_CALL_cBSP_##name, MDS_##timing);      \
        int rc;                                                                        \
                                                                                       \
        NOTE rc = cbsp_call_##name arguments;                                          \
        mds_end(collect, CBSP_CALL_cBSP_##name, MDS_##timing, began);                  \
        return rc;                                                                     \
    }                                                                                  \
    BCS_PUBLIC int cBSP_##name parameters                                              \
    {                                                                                  \
        if (cbsp_self != NULL && __builtin_expect(cbsp_self->collect != NULL, 0)) {    \
            mds_call_from(__builtin_return_address(0));                                \
            return recorded_##name arguments;                                          \
        }                                                                              \
        return cbsp_call_##name arguments;                                             \
    }
#include "libbcs/cbsp/call_kinds.def"

bool cbsp_raw_records(void)
{
    return cbsp_self->collect != NULL;
}

uint64_t cbsp_raw_begin(enum cbsp_call call, const void *address)
{
    mds_call_from(address);
    return mds_begin(cbsp_self->collect, call, timings[call]);
}

void cbsp_raw_end(enum cbsp_call call, uint64_t began, int64_t n_bytes)
{
    if (n_bytes >= 0) {
        mds_size_add_outermost((uint64_t)n_bytes);
    }
    mds_end(cbsp_self->collect, call, timings[call], began);
}
