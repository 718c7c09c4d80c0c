/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exported MPI_ and PMPI_ functions, made from functions.def. Run by every thread
 * of the program that calls MPI.
 *
 * The fast path is one test of one byte (gate.h), and our own function is called at
 * once. All else is in the slow path. MPI_X and PMPI_X differ only when a profiling
 * tool lies between us and the real library: then MPI_X is the tool's, which comes back
 * by PMPI_X.
 */
#include <stdatomic.h>

#include "libbcs/fabric/base/forked.h"
#include "libbcs/fabric/base/log.h"
#include "mds/collect.h"
#include "mpi_shim/calls/assemble.h"
#include "mpi_shim/calls/caller.h"
#include "mpi_shim/calls/lint.h"
#include "mpi_shim/calls/mpi_calls.h"
#include "mpi_shim/real/gate.h"
#include "mpi_shim/real/pass.h"
#include "mpi_shim/real/state.h"
#include "mpi_shim/request/buffers.h"
#include "mpi_shim/request/request.h"

_Static_assert(SHIM_N_FUNCTIONS <= MDS_MAX_PRIMITIVES, "raise MDS_MAX_PRIMITIVES");

/* What an entry point does first that cannot take the fast path. MPI_Finalize of a
 * forked child has nothing to end, and is often called at exit: it is let through. */
static void shim_symbols_enter(enum shim_function function)
{
    if (shim_state.gate.is_forked && function != SHIM_FN_Finalize) {
        bcs_forked_refuse(shim_function_names[function]);
    }
    shim_gate_resolve();
}

/* MPI is used without MPI_Init: by a session, which the library carries. */
static void shim_symbols_tell_inactive(const char *name)
{
    /* relaxed: nothing else is read after it */
    if (!atomic_exchange_explicit(&shim_state.is_told_inactive, true,
                                  memory_order_relaxed) &&
        shim_symbol_find("MPI_Session_init") != NULL) {
        bcs_warn("%s without MPI_Init: bcs does not carry what an MPI session does",
                 name);
    }
}

/* mpi.h exports only the functions that it declares. */
#define SHIM_EXPORT __attribute__((visibility("default")))

/* MPI_X when a tool may lie below; inner is what PMPI_X does then. */
#define SHIM_DEFINE_TOOL(type, name, parameters, arguments, inner)                     \
    static type __attribute__((noinline)) shim_slow_##name parameters                  \
    {                                                                                  \
        shim_symbols_enter(SHIM_FN_##name);                                            \
        return shim_tool.name != NULL ? shim_tool.name arguments : inner arguments;    \
    }

/* What happens to objects of the program, before a call and after it; only on the slow
 * path. */
#define SHIM_NOTHING(name, kind, handle)
#define SHIM_FREED(name, kind, handle)                                                 \
    if (shim_state.lint != NULL && (handle) != NULL) {                                 \
        shim_lint_freed(SHIM_LINT_##kind, (uintptr_t) * (handle));                     \
    }
#define SHIM_MADE(name, kind, handle)                                                  \
    if (is_noted && result == MPI_SUCCESS) {                                           \
        shim_symbols_made(SHIM_LINT_##kind, (uintptr_t) * (handle));                   \
    }

/* Whether what a call makes is noted: the program has called, and not a library in a
 * call. */
static inline bool shim_symbols_note(const char *name)
{
    if ((shim_state.lint == NULL && shim_state.buffers == NULL) || mds_call.depth > 0) {
        return false;
    }
    mds_call.function = name;
    return true;
}

/* The program has made an object. A persistent request is posted by MPI_Start. */
static void shim_symbols_made(enum shim_lint_kind kind, uintptr_t handle)
{
    const struct shim_request *request;

    shim_lint_made(kind, mds_call.function, handle);
    if (kind == SHIM_LINT_REQUEST && shim_state.buffers != NULL) {
        request = shim_request_find((MPI_Request)handle);
        if (request != NULL && !request->is_persistent) {
            shim_enter();
            shim_buffers_post(request);
            shim_leave();
        }
    }
}

/* BEFORE and AFTER are two of the three above. */
#define SHIM_DEFINE(timing, type, name, parameters, arguments, BEFORE, AFTER, kind,    \
                    handle)                                                            \
    static type __attribute__((noinline)) shim_inner_##name parameters                 \
    {                                                                                  \
        bool is_noted = shim_symbols_note("MPI_" #name);                               \
        struct mds_collect *collect =                                                  \
            MDS_##timing == MDS_UNTIMED ? NULL : shim_state.collect;                   \
        uint64_t began;                                                                \
        type result;                                                                   \
                                                                                       \
        if (!shim_state.gate.is_active) {                                              \
            shim_symbols_enter(SHIM_FN_##name);                                        \
            shim_symbols_tell_inactive("MPI_" #name);                                  \
            return shim_real.name arguments;                                           \
        }                                                                              \
        began = mds_begin(collect, SHIM_FN_##name, MDS_##timing);                      \
        BEFORE(name, kind, handle)                                                     \
        mds_call.depth += is_noted;                                                    \
        result = shim_##name arguments;                                                \
        mds_call.depth -= is_noted;                                                    \
        AFTER(name, kind, handle)                                                      \
        mds_end(collect, SHIM_FN_##name, MDS_##timing, began);                         \
        return result;                                                                 \
    }                                                                                  \
    SHIM_DEFINE_TOOL(type, name, parameters, arguments, shim_inner_##name)             \
    SHIM_EXPORT type PMPI_##name parameters                                            \
    {                                                                                  \
        if (__builtin_expect(shim_state.gate.pmpi_is_slow, false)) {                   \
            shim_call_from(__builtin_return_address(0), __builtin_dwarf_cfa());        \
            return shim_inner_##name arguments;                                        \
        }                                                                              \
        return shim_##name arguments;                                                  \
    }                                                                                  \
    SHIM_EXPORT type MPI_##name parameters                                             \
    {                                                                                  \
        if (__builtin_expect(shim_state.gate.mpi_is_slow, false)) {                    \
            shim_call_from(__builtin_return_address(0), __builtin_dwarf_cfa());        \
            return shim_slow_##name arguments;                                         \
        }                                                                              \
        return shim_##name arguments;                                                  \
    }

#define SHIM_BUFFERED(timing, type, name, parameters, arguments)                       \
    SHIM_DEFINE(timing, type, name, parameters, arguments, SHIM_NOTHING, SHIM_NOTHING, \
                NONE, NULL)
#define SHIM_YIELDS(timing, kind, name, parameters, arguments, handle)                 \
    SHIM_DEFINE(timing, int, name, parameters, arguments, SHIM_NOTHING, SHIM_MADE,     \
                kind, handle)
#define SHIM_TAKES(timing, kind, name, parameters, arguments, handle)                  \
    SHIM_DEFINE(timing, int, name, parameters, arguments, SHIM_FREED, SHIM_NOTHING,    \
                kind, handle)

/* A local function: the real library's, also before MPI_Init and in a forked child. */
#define SHIM_DEFINE_LOCAL(name, parameters, arguments, BEFORE, AFTER, kind, handle)    \
    static int __attribute__((noinline)) shim_inner_##name parameters                  \
    {                                                                                  \
        bool is_noted;                                                                 \
        int result;                                                                    \
                                                                                       \
        shim_gate_resolve();                                                           \
        is_noted = shim_symbols_note("MPI_" #name);                                    \
        BEFORE(name, kind, handle)                                                     \
        mds_call.depth += is_noted;                                                    \
        result = shim_real.name arguments;                                             \
        mds_call.depth -= is_noted;                                                    \
        AFTER(name, kind, handle)                                                      \
        return result;                                                                 \
    }                                                                                  \
    static int __attribute__((noinline)) shim_slow_##name parameters                   \
    {                                                                                  \
        shim_gate_resolve();                                                           \
        return shim_tool.name != NULL ? shim_tool.name arguments                       \
                                      : shim_inner_##name arguments;                   \
    }                                                                                  \
    SHIM_EXPORT int PMPI_##name parameters                                             \
    {                                                                                  \
        if (__builtin_expect(shim_state.gate.pmpi_is_slow, false)) {                   \
            shim_call_from(__builtin_return_address(0), __builtin_dwarf_cfa());        \
            return shim_inner_##name arguments;                                        \
        }                                                                              \
        return shim_real.name arguments;                                               \
    }                                                                                  \
    SHIM_EXPORT int MPI_##name parameters                                              \
    {                                                                                  \
        if (__builtin_expect(shim_state.gate.mpi_is_slow, false)) {                    \
            shim_call_from(__builtin_return_address(0), __builtin_dwarf_cfa());        \
            return shim_slow_##name arguments;                                         \
        }                                                                              \
        return shim_real.name arguments;                                               \
    }
#define SHIM_MAKES(kind, name, parameters, arguments, handle)                          \
    SHIM_DEFINE_LOCAL(name, parameters, arguments, SHIM_NOTHING, SHIM_MADE, kind,      \
                      handle)
#define SHIM_FREES(kind, name, parameters, arguments, handle)                          \
    SHIM_DEFINE_LOCAL(name, parameters, arguments, SHIM_FREED, SHIM_NOTHING, kind,     \
                      handle)

/* A function that the real library carries out; inner is the way to it. */
#define SHIM_DEFINE_PASSED(type, name, parameters, arguments, inner)                   \
    SHIM_DEFINE_TOOL(type, name, parameters, arguments, inner)                         \
    SHIM_EXPORT type PMPI_##name parameters                                            \
    {                                                                                  \
        if (__builtin_expect(shim_state.gate.pmpi_is_slow, false)) {                   \
            shim_call_from(__builtin_return_address(0), __builtin_dwarf_cfa());        \
            shim_symbols_enter(SHIM_FN_##name);                                        \
        }                                                                              \
        return inner arguments;                                                        \
    }                                                                                  \
    SHIM_EXPORT type MPI_##name parameters                                             \
    {                                                                                  \
        if (__builtin_expect(shim_state.gate.mpi_is_slow, false)) {                    \
            shim_call_from(__builtin_return_address(0), __builtin_dwarf_cfa());        \
            return shim_slow_##name arguments;                                         \
        }                                                                              \
        return inner arguments;                                                        \
    }
#define SHIM_PASSED(timing, type, name, parameters, arguments)                         \
    SHIM_DEFINE_PASSED(type, name, parameters, arguments, shim_pass_##name)
#define SHIM_ASSEMBLED(name, parameters, arguments)                                    \
    SHIM_DEFINE_PASSED(int, name, parameters, arguments, shim_assembled_##name)

#define SHIM_LIFECYCLE(type, name, parameters, arguments)                              \
    SHIM_DEFINE_TOOL(type, name, parameters, arguments, shim_##name)                   \
    SHIM_EXPORT type PMPI_##name parameters                                            \
    {                                                                                  \
        shim_symbols_enter(SHIM_FN_##name);                                            \
        return shim_##name arguments;                                                  \
    }                                                                                  \
    SHIM_EXPORT type MPI_##name parameters                                             \
    {                                                                                  \
        return shim_slow_##name arguments;                                             \
    }

#include "mpi_shim/real/functions.def"
