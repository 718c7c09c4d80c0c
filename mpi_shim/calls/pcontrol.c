/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Pcontrol: the program names its phases for whoever looks at it, here the MDS. It
 * has as many arguments as the program likes, which nobody but a tool below us
 * understands: so it is not made from functions.def. Any thread.
 */
#include <mpi.h>
#include <string.h>

#include "mds/collect.h"
#include "mpi_shim/real/gate.h"
#include "mpi_shim/real/real.h"
#include "mpi_shim/real/state.h"

/* Of the arguments, those on the stack that are handed on; the others are in
 * registers. */
enum { STACK_BYTES = 128 };

static void record(int level)
{
    struct mds_collect *collect = shim_state.collect;

    shim_gate_resolve();
    if (collect != NULL) {
        mds_phase_begin(collect, level);
    }
}

__attribute__((visibility("default"))) int PMPI_Pcontrol(const int level, ...)
{
    record(level);
    return MPI_SUCCESS;
}

/* What a tool below us does with it, or, in the real library, nothing. */
__attribute__((visibility("default"))) int MPI_Pcontrol(const int level, ...)
{
    void (*next)() = NULL;
    void *symbol;

    record(level);
    symbol = shim_symbol_next("MPI_Pcontrol");
    memcpy(&next, &symbol, sizeof(symbol));
    if (next == NULL) {
        return MPI_SUCCESS;
    }
#ifdef __clang__
    return ((int (*)(int, ...))next)(level);
#else
    __builtin_return(__builtin_apply(next, __builtin_apply_args(), STACK_BYTES));
#endif
}
