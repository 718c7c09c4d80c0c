/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The real MPI library: its functions by name, and any other symbol of it. Read by all
 * of the shim, by any thread, after shim_real_resolve.
 *
 * Code of this folder must not write MPI_COMM_WORLD, MPI_INT or MPI_REQUEST_NULL: these
 * are addresses of data of the real library, which would be imported. See handles.h.
 */
#ifndef SHIM_REAL_H
#define SHIM_REAL_H

#include <mpi.h>
#include <stdbool.h>

#include "mds/collect.h"

#pragma GCC visibility push(hidden)

/** Numbers of the interposed functions: SHIM_FN_Send ... */
enum shim_function {
#define SHIM_LIFECYCLE(type, name, parameters, arguments) SHIM_FN_##name,
#define SHIM_BUFFERED(timing, type, name, parameters, arguments) SHIM_FN_##name,
#define SHIM_PASSED(timing, type, name, parameters, arguments) SHIM_FN_##name,
#include "mpi_shim/real/functions.def"
    SHIM_N_FUNCTIONS
};

/** Pointers to MPI functions, by name without "MPI_". */
struct shim_real {
#define SHIM_LIFECYCLE(type, name, parameters, arguments) type(*name) parameters;
#define SHIM_BUFFERED(timing, type, name, parameters, arguments) type(*name) parameters;
#define SHIM_PASSED(timing, type, name, parameters, arguments) type(*name) parameters;
#define SHIM_LOCAL(type, name, parameters) type(*name) parameters;
#include "mpi_shim/real/functions.def"
};

/** The real library's functions (its PMPI_ names). */
extern struct shim_real shim_real;

/** A tool's functions that lie below ours; NULL where the next MPI_X is the real
 *  one. */
extern struct shim_real shim_tool;

/** "MPI_Send" ... by enum shim_function; SHIM_N_FUNCTIONS entries. */
extern const char *const shim_function_names[SHIM_N_FUNCTIONS];

/** What the time inside each of them is. */
extern const enum mds_timing shim_function_timings[SHIM_N_FUNCTIONS];

/**
 * Find the real library and its functions, once, in one thread. A library that is not
 * Open MPI, or that lacks a function which we need, ends the process with one line and
 * exit status 1.
 *
 * @return whether some member of shim_tool is set
 */
bool shim_real_resolve(void);

/** The address of a function of MPI behind ours: a tool's that lies below us, or the
 *  real library's; NULL: there is none. */
void *shim_symbol_next(const char *name);

/**
 * The address of a symbol of the program or of the MPI library and what that library
 * brings along (so also "opal_progress"); the program's own copy first.
 *
 * @return NULL  there is no such symbol
 */
void *shim_symbol_find(const char *name);

#pragma GCC visibility pop

#endif
