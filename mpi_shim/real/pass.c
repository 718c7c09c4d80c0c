/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counted ways into the real library, made from functions.def. Any thread.
 */
#include "mpi_shim/real/pass.h"

#include "mds/collect.h"
#include "mpi_shim/real/fallback.h"
#include "mpi_shim/real/state.h"

#define SHIM_PASSED(timing, type, name, parameters, arguments)                         \
    type shim_pass_##name parameters                                                   \
    {                                                                                  \
        struct mds_collect *collect =                                                  \
            MDS_##timing == MDS_UNTIMED ? NULL : shim_state.collect;                   \
        uint64_t began = mds_begin(collect, SHIM_FN_##name, MDS_##timing);             \
        type result;                                                                   \
                                                                                       \
        shim_pass_begin(SHIM_FN_##name);                                               \
        result = shim_real.name arguments;                                             \
        shim_pass_end();                                                               \
        mds_end(collect, SHIM_FN_##name, MDS_##timing, began);                         \
        return result;                                                                 \
    }

#define SHIM_BUFFERED(timing, type, name, parameters, arguments)                       \
    SHIM_PASSED(timing, type, name, parameters, arguments)

#include "mpi_shim/real/functions.def"
