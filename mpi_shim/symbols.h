/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What functions.def becomes for the rest of the shim: the numbers of the functions, the
 * table of the real library's functions, and the prototypes of our own. Any thread that
 * calls MPI runs what is declared here.
 *
 * shim_<Name> is our implementation of MPI_<Name>, written elsewhere in this folder.
 * shim_pass_<Name> calls the real library, counts the call and names it in the report;
 * for a communicator or a request that is not ours. shim_real.<Name> is the bare
 * function of the real library.
 *
 * Code of this folder must not write MPI_COMM_WORLD, MPI_INT or MPI_REQUEST_NULL: these
 * are addresses of data of the real library, which would be imported. See handles.h.
 */
#ifndef SHIM_SYMBOLS_H
#define SHIM_SYMBOLS_H

#include <mpi.h>
#include <stdbool.h>

#pragma GCC visibility push(hidden)

/** Numbers of the interposed functions: SHIM_FN_Send ... */
enum shim_function {
#define SHIM_LIFECYCLE(type, name, parameters, arguments) SHIM_FN_##name,
#define SHIM_BUFFERED(timing, type, name, parameters, arguments) SHIM_FN_##name,
#define SHIM_PASSED(timing, type, name, parameters, arguments) SHIM_FN_##name,
#include "mpi_shim/functions.def"
    SHIM_N_FUNCTIONS
};

/** Pointers to MPI functions, by name without "MPI_". */
struct shim_real {
#define SHIM_LIFECYCLE(type, name, parameters, arguments) type(*name) parameters;
#define SHIM_BUFFERED(timing, type, name, parameters, arguments) type(*name) parameters;
#define SHIM_PASSED(timing, type, name, parameters, arguments) type(*name) parameters;
#define SHIM_LOCAL(type, name, parameters) type(*name) parameters;
#include "mpi_shim/functions.def"
};

/** The real library's functions (its PMPI_ names). Filled by shim_symbols_resolve. */
extern struct shim_real shim_real;

/** Our implementations, and the counted way into the real library. */
#define SHIM_LIFECYCLE(type, name, parameters, arguments) type shim_##name parameters;
#define SHIM_BUFFERED(timing, type, name, parameters, arguments)                       \
    type shim_##name parameters;                                                       \
    type shim_pass_##name parameters;
#define SHIM_PASSED(timing, type, name, parameters, arguments)                         \
    type shim_pass_##name parameters;
#include "mpi_shim/functions.def"

/** "MPI_Send" ... by enum shim_function; SHIM_N_FUNCTIONS entries. */
extern const char *const shim_function_names[SHIM_N_FUNCTIONS];

/**
 * Find the real library and its functions; done once, by the first thread that comes,
 * later calls return at once. A library that is not Open MPI, or that lacks a function
 * which we need, ends the process with one line and exit status 1.
 *
 * Every entry point does this by itself before it needs a real function.
 */
void shim_symbols_resolve(void);

/**
 * From now on buffered functions go to shim_<Name> and passed ones are counted. Called
 * by shim_Init once everything is ready, after mmds_start if that is called at all.
 */
void shim_symbols_activate(void);

/** From now on all functions go to the real library, uncounted. For shim_Finalize. */
void shim_symbols_deactivate(void);

/** From now on no function is carried out, but MPI_Finalize, which does nothing: this is a
 *  forked child. A bcs_forked function. */
void shim_symbols_forbid(void *unused);

/** Whether we are between shim_symbols_activate and shim_symbols_deactivate. */
bool shim_symbols_is_active(void);

/**
 * The address of a symbol of the program or of the MPI library and what that library
 * brings along (so also "opal_progress"); the program's own copy first.
 *
 * @return NULL  there is no such symbol
 */
void *shim_symbol_find(const char *name);

#pragma GCC visibility pop

#endif
