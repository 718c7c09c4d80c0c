/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entry points of <bsp.h> that the MDS records, made from call_kinds.def. They
 * record where cBSP does: one test of the state where nothing is recorded.
 */
#include "libbcs/bsplib/bsplib.h"

#define CBSP_BSPLIB_CALL(timing, name, parameters, arguments, n_bytes)                 \
    BCS_PUBLIC void bsp_##name parameters                                              \
    {                                                                                  \
        if (bsplib_self != NULL && __builtin_expect(bsplib_self->is_recorded, 0)) {    \
            uint64_t began =                                                           \
                cbsp_raw_begin(CBSP_CALL_bsp_##name, __builtin_return_address(0));     \
                                                                                       \
            bsplib_call_##name arguments;                                              \
            cbsp_raw_end(CBSP_CALL_bsp_##name, began, n_bytes);                        \
        } else {                                                                       \
            bsplib_call_##name arguments;                                              \
        }                                                                              \
    }
#include "libbcs/cbsp/call_kinds.def"
