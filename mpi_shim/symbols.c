/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exported MPI_ and PMPI_ functions, made from functions.def, and the search for the
 * real library behind them. Run by every thread of the program that calls MPI.
 *
 * The fast path of an entry point is one test of one byte: zero means that the shim is
 * active, the MDS off and no tool below us, and our own function is called at once. All
 * else is in the slow path. MPI_X and PMPI_X differ only when a profiling tool lies
 * between us and the real library: then MPI_X is the tool's, which comes back by
 * PMPI_X.
 */
#include "mpi_shim/symbols.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/base/forked.h"
#include "libbcs/base/log.h"
#include "libbcs/base/log_job.h"
#include "mds/collect.h"
#include "mpi_shim/fallback.h"
#include "mpi_shim/handles.h"

_Static_assert(SHIM_N_FUNCTIONS <= MDS_MAX_PRIMITIVES, "raise MDS_MAX_PRIMITIVES");

/* How entry points go. Written at start, MPI_Init and MPI_Finalize only. */
static struct shim_entry {
    bool mpi_is_slow;  /* MPI_X must look further */
    bool pmpi_is_slow; /* PMPI_X must look further */
    bool is_active;
    bool has_tool;  /* some member of shim_tool is set */
    bool is_forked; /* this is a forked child, which must not call MPI */
} shim_entry = {.mpi_is_slow = true, .pmpi_is_slow = true};

struct shim_real shim_real;

/* A tool's MPI_X that lies below us; NULL where the next MPI_X is the real one. */
static struct shim_real shim_tool;

/* The real library, where it is not in the global scope (it came by dlopen). */
static void *shim_library;

const char *const shim_function_names[SHIM_N_FUNCTIONS] = {
#define SHIM_LIFECYCLE(type, name, parameters, arguments)                              \
    [SHIM_FN_##name] = "MPI_" #name,
#define SHIM_BUFFERED(timing, type, name, parameters, arguments)                       \
    [SHIM_FN_##name] = "MPI_" #name,
#define SHIM_PASSED(timing, type, name, parameters, arguments)                         \
    [SHIM_FN_##name] = "MPI_" #name,
#include "mpi_shim/functions.def"
};

/* Reached if the program looked up a name that its MPI library does not have. */
static int shim_symbol_missing(const char *name)
{
    fprintf(stderr, "bcs: the MPI library of this program has no %s\n", name);
    return MPI_ERR_UNSUPPORTED_OPERATION;
}

/* What stands in shim_real for a function that the library does not have: a program that
 * was linked with this library cannot call it, one that looks up names may. */
#define SHIM_DEFINE_MISSING(type, name, parameters)                                    \
    static type shim_missing_##name parameters                                         \
    {                                                                                  \
        int error = shim_symbol_missing("MPI_" #name);                                 \
                                                                                       \
        return _Generic((type)0, int : error, default : (type)0);                      \
    }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define SHIM_BUFFERED(timing, type, name, parameters, arguments)                       \
    SHIM_DEFINE_MISSING(type, name, parameters)
#define SHIM_PASSED(timing, type, name, parameters, arguments)                         \
    SHIM_DEFINE_MISSING(type, name, parameters)
#include "mpi_shim/functions.def"
#pragma GCC diagnostic pop

/* Where each function's pointers are, and what is used if there is no such function. */
struct shim_symbol {
    const char *mpi_name; /* NULL: not interposed */
    const char *pmpi_name;
    size_t offset;
    void *missing; /* NULL: we cannot do without */
};

#define SHIM_SYMBOL(mpi_name, name, missing)                                           \
    {mpi_name, "PMPI_" #name, offsetof(struct shim_real, name), (void *)(missing)},

static const struct shim_symbol shim_symbols[] = {
#define SHIM_LIFECYCLE(type, name, parameters, arguments)                              \
    SHIM_SYMBOL("MPI_" #name, name, NULL)
#define SHIM_BUFFERED(timing, type, name, parameters, arguments)                       \
    SHIM_SYMBOL("MPI_" #name, name, shim_missing_##name)
#define SHIM_PASSED(timing, type, name, parameters, arguments)                         \
    SHIM_SYMBOL("MPI_" #name, name, shim_missing_##name)
#define SHIM_LOCAL(type, name, parameters) SHIM_SYMBOL(NULL, name, NULL)
#include "mpi_shim/functions.def"
};

static void *shim_symbol_real(const char *name)
{
    void *symbol = dlsym(RTLD_NEXT, name);

    if (symbol == NULL && shim_library != NULL) {
        symbol = dlsym(shim_library, name);
    }
    return symbol;
}

/* Whether two functions lie in the same shared object. */
static bool shim_symbol_is_same_object(void *one, void *other)
{
    Dl_info first, second;

    return dladdr(one, &first) != 0 && dladdr(other, &second) != 0 &&
           first.dli_fbase == second.dli_fbase;
}

/* POSIX lets a pointer from dlsym be a function; memcpy says so to the compiler. */
static void shim_symbol_store(struct shim_real *table, size_t offset, void *symbol)
{
    memcpy((char *)table + offset, &symbol, sizeof(symbol));
}

static void shim_symbol_resolve(const struct shim_symbol *symbol)
{
    void *real = shim_symbol_real(symbol->pmpi_name);
    void *next = symbol->mpi_name == NULL ? NULL : dlsym(RTLD_NEXT, symbol->mpi_name);

    if (real == NULL && symbol->missing == NULL) {
        shim_symbol_missing(symbol->pmpi_name);
        exit(1);
    }
    shim_symbol_store(&shim_real, symbol->offset,
                      real != NULL ? real : symbol->missing);
    if (real != NULL && next != NULL && !shim_symbol_is_same_object(real, next)) {
        shim_symbol_store(&shim_tool, symbol->offset, next);
        shim_entry.has_tool = true;
    }
}

/* If no MPI library is in the global scope, one that came by dlopen must be loaded. */
static void shim_library_open(void)
{
    static const char *const names[] = {"libmpi.so.40", "libmpi.so.12",
                                        "libmpich.so.12", "libmpi_abi.so.1",
                                        "libmpi.so"};

    if (dlsym(RTLD_NEXT, "PMPI_Init") != NULL) {
        return;
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        shim_library = dlopen(names[i], RTLD_NOLOAD | RTLD_LAZY);
        if (shim_library != NULL) {
            return;
        }
    }
}

/* MPI_MAX_LIBRARY_VERSION_STRING of MPICH, which writes the longest. */
#define FOREIGN_VERSION_BYTES 8192

/* Stay out of programs whose MPI has other types behind the same names. */
static void shim_library_check(void)
{
    int (*get_version)(char *, int *) = NULL;
    char version[FOREIGN_VERSION_BYTES] = "an unknown MPI library";
    int length;
    void *symbol = shim_symbol_real("PMPI_Get_library_version");

    if (symbol != NULL) {
        memcpy(&get_version, &symbol, sizeof(symbol));
        get_version(version, &length);
    }
    if (strncmp(version, "Open MPI", strlen("Open MPI")) == 0 &&
        shim_symbol_find("ompi_mpi_comm_world") != NULL) {
        return;
    }
    version[strcspn(version, "\n")] = '\0';
    bcs_job_error("this program uses %s; bcs carries programs built with Open MPI",
                  version);
    exit(1);
}

static void shim_entry_update(void)
{
    bool is_slow = !shim_entry.is_active || mds_collect != NULL;

    shim_entry.pmpi_is_slow = is_slow;
    shim_entry.mpi_is_slow = is_slow || shim_entry.has_tool;
}

static void shim_symbols_resolve_once(void)
{
    shim_library_open();
    shim_library_check();
    for (size_t i = 0; i < sizeof(shim_symbols) / sizeof(shim_symbols[0]); i++) {
        shim_symbol_resolve(&shim_symbols[i]);
    }
    shim_handles_resolve();
}

void shim_symbols_resolve(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, shim_symbols_resolve_once);
}

/* What an entry point does first that cannot take the fast path. MPI_Finalize of a forked
 * child has nothing to end, and is often called at exit: it is let through. */
static void shim_symbols_enter(enum shim_function function)
{
    if (shim_entry.is_forked && function != SHIM_FN_Finalize) {
        bcs_forked_refuse(shim_function_names[function]);
    }
    shim_symbols_resolve();
}

void shim_symbols_activate(void)
{
    shim_entry.is_active = true;
    shim_entry_update();
}

void shim_symbols_deactivate(void)
{
    shim_entry.is_active = false;
    shim_entry_update();
}

void shim_symbols_forbid(void *unused)
{
    (void)unused;
    shim_entry.is_forked = true;
    shim_symbols_deactivate();
}

bool shim_symbols_is_active(void)
{
    return shim_entry.is_active;
}

void *shim_symbol_find(const char *name)
{
    void *symbol = dlsym(RTLD_DEFAULT, name);

    if (symbol == NULL && shim_library != NULL) {
        symbol = dlsym(shim_library, name);
    }
    return symbol;
}

/* MPI is used without MPI_Init: by a session, which the library carries. */
static void shim_symbols_tell_inactive(const char *name)
{
    static _Atomic bool is_told;

    /* relaxed: nothing else is read after it */
    if (!atomic_exchange_explicit(&is_told, true, memory_order_relaxed) &&
        shim_symbol_find("MPI_Session_init") != NULL) {
        bcs_warn("%s without MPI_Init: bcs does not carry what an MPI session does",
                 name);
    }
}

/* mpi.h exports only the functions that it declares. */
#define SHIM_EXPORT __attribute__((visibility("default")))

/* The counted way into the real library. */
#define SHIM_DEFINE_PASS(timing, type, name, parameters, arguments)                    \
    type shim_pass_##name parameters                                                   \
    {                                                                                  \
        struct mds_collect *collect =                                                  \
            MDS_##timing == MDS_UNTIMED ? NULL : mds_collect;                          \
        uint64_t began = mds_begin(collect, MDS_##timing);                             \
        type result;                                                                   \
                                                                                       \
        shim_pass_begin(SHIM_FN_##name);                                               \
        result = shim_real.name arguments;                                             \
        shim_pass_end();                                                               \
        mds_end(collect, SHIM_FN_##name, MDS_##timing, began);                         \
        return result;                                                                 \
    }

/* MPI_X when a tool may lie below; inner is what PMPI_X does then. */
#define SHIM_DEFINE_TOOL(type, name, parameters, arguments, inner)                     \
    static type __attribute__((noinline)) shim_slow_##name parameters                  \
    {                                                                                  \
        shim_symbols_enter(SHIM_FN_##name);                                            \
        return shim_tool.name != NULL ? shim_tool.name arguments : inner arguments;    \
    }

#define SHIM_BUFFERED(timing, type, name, parameters, arguments)                       \
    SHIM_DEFINE_PASS(timing, type, name, parameters, arguments)                        \
    static type __attribute__((noinline)) shim_inner_##name parameters                 \
    {                                                                                  \
        struct mds_collect *collect =                                                  \
            MDS_##timing == MDS_UNTIMED ? NULL : mds_collect;                          \
        uint64_t began;                                                                \
        type result;                                                                   \
                                                                                       \
        if (!shim_entry.is_active) {                                                   \
            shim_symbols_enter(SHIM_FN_##name);                                        \
            shim_symbols_tell_inactive("MPI_" #name);                                  \
            return shim_real.name arguments;                                           \
        }                                                                              \
        began = mds_begin(collect, MDS_##timing);                                      \
        result = shim_##name arguments;                                                \
        mds_end(collect, SHIM_FN_##name, MDS_##timing, began);                         \
        return result;                                                                 \
    }                                                                                  \
    SHIM_DEFINE_TOOL(type, name, parameters, arguments, shim_inner_##name)             \
    SHIM_EXPORT type PMPI_##name parameters                                            \
    {                                                                                  \
        if (__builtin_expect(shim_entry.pmpi_is_slow, false)) {                        \
            return shim_inner_##name arguments;                                        \
        }                                                                              \
        return shim_##name arguments;                                                  \
    }                                                                                  \
    SHIM_EXPORT type MPI_##name parameters                                             \
    {                                                                                  \
        if (__builtin_expect(shim_entry.mpi_is_slow, false)) {                         \
            return shim_slow_##name arguments;                                         \
        }                                                                              \
        return shim_##name arguments;                                                  \
    }

#define SHIM_PASSED(timing, type, name, parameters, arguments)                         \
    SHIM_DEFINE_PASS(timing, type, name, parameters, arguments)                        \
    SHIM_DEFINE_TOOL(type, name, parameters, arguments, shim_pass_##name)              \
    SHIM_EXPORT type PMPI_##name parameters                                            \
    {                                                                                  \
        if (__builtin_expect(shim_entry.pmpi_is_slow, false)) {                        \
            shim_symbols_enter(SHIM_FN_##name);                                        \
        }                                                                              \
        return shim_pass_##name arguments;                                             \
    }                                                                                  \
    SHIM_EXPORT type MPI_##name parameters                                             \
    {                                                                                  \
        if (__builtin_expect(shim_entry.mpi_is_slow, false)) {                         \
            return shim_slow_##name arguments;                                         \
        }                                                                              \
        return shim_pass_##name arguments;                                             \
    }

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

#include "mpi_shim/functions.def"
