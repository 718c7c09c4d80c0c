/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The search for the real library behind us and for its functions, and for a profiling
 * tool that lies between. Runs once, in the thread that makes the first MPI call.
 */
#include "mpi_shim/real/real.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/fabric/base/log_job.h"
#include "mpi_shim/real/program_dlsym.h"
#include "mpi_shim/real/shim_module.h"

struct shim_real shim_real;
struct shim_real shim_tool;

/* The real library, where it is not in the global scope (it came by dlopen). */
static void *shim_library;

const char *const shim_function_names[SHIM_N_FUNCTIONS] = {
#define SHIM_LIFECYCLE(type, name, parameters, arguments)                              \
    [SHIM_FN_##name] = "MPI_" #name,
#define SHIM_BUFFERED(timing, type, name, parameters, arguments)                       \
    [SHIM_FN_##name] = "MPI_" #name,
#define SHIM_PASSED(timing, type, name, parameters, arguments)                         \
    [SHIM_FN_##name] = "MPI_" #name,
#include "mpi_shim/real/functions.def"
};

const enum mds_timing shim_function_timings[SHIM_N_FUNCTIONS] = {
#define SHIM_BUFFERED(timing, type, name, parameters, arguments)                       \
    [SHIM_FN_##name] = MDS_##timing,
#define SHIM_PASSED(timing, type, name, parameters, arguments)                         \
    [SHIM_FN_##name] = MDS_##timing,
#include "mpi_shim/real/functions.def"
};

/* Reached if the program looked up a name that its MPI library does not have. */
static int shim_symbol_missing(const char *name)
{
    fprintf(stderr, "bcs: the MPI library of this program has no %s\n", name);
    return MPI_ERR_UNSUPPORTED_OPERATION;
}

/* What stands in shim_real for a function that the library does not have: a program
 * that was linked with this library cannot call it, one that looks up names may. */
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
#include "mpi_shim/real/functions.def"
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
#define SHIM_MAKES(kind, name, parameters, arguments, handle)                          \
    SHIM_SYMBOL("MPI_" #name, name, NULL)
#define SHIM_FREES(kind, name, parameters, arguments, handle)                          \
    SHIM_SYMBOL("MPI_" #name, name, NULL)
#include "mpi_shim/real/functions.def"
};

void *shim_symbol_next(const char *name)
{
    void *symbol = dlsym(RTLD_NEXT, name);

    if (symbol == NULL && shim_library != NULL) {
        symbol = shim_handle_symbol(shim_library, name);
    }
    return symbol;
}

/* POSIX lets a pointer from dlsym be a function; memcpy says so to the compiler. */
static void shim_symbol_store(struct shim_real *table, size_t offset, void *symbol)
{
    memcpy((char *)table + offset, &symbol, sizeof(symbol));
}

/** Store what a symbol's functions are. @return whether a tool has one below us */
static bool shim_symbol_resolve(const struct shim_symbol *symbol)
{
    void *real = shim_symbol_next(symbol->pmpi_name);
    void *next = symbol->mpi_name == NULL ? NULL : dlsym(RTLD_NEXT, symbol->mpi_name);

    if (real == NULL && symbol->missing == NULL) {
        shim_symbol_missing(symbol->pmpi_name);
        exit(1);
    }
    shim_symbol_store(&shim_real, symbol->offset,
                      real != NULL ? real : symbol->missing);
    if (real != NULL && next != NULL && !shim_module_is_same(real, next)) {
        shim_symbol_store(&shim_tool, symbol->offset, next);
        return true;
    }
    return false;
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
    void *symbol = shim_symbol_next("PMPI_Get_library_version");

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

bool shim_real_resolve(void)
{
    bool has_tool = false;

    shim_library_open();
    shim_library_check();
    for (size_t i = 0; i < sizeof(shim_symbols) / sizeof(shim_symbols[0]); i++) {
        has_tool |= shim_symbol_resolve(&shim_symbols[i]);
    }
    return has_tool;
}

void *shim_symbol_find(const char *name)
{
    void *symbol = dlsym(RTLD_DEFAULT, name);

    if (symbol == NULL && shim_library != NULL) {
        symbol = shim_handle_symbol(shim_library, name);
    }
    return symbol;
}
