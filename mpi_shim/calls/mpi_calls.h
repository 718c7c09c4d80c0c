/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Our own implementations, made from functions.def: shim_<Name> is that of MPI_<Name>,
 * written in the file of its subject. Only the entry points call them. Any thread.
 */
#ifndef MPI_SHIM_CALLS_MPI_CALLS_H
#define MPI_SHIM_CALLS_MPI_CALLS_H

#include <mpi.h>

#pragma GCC visibility push(hidden)

#define SHIM_LIFECYCLE(type, name, parameters, arguments) type shim_##name parameters;
#define SHIM_BUFFERED(timing, type, name, parameters, arguments)                       \
    type shim_##name parameters;
#include "mpi_shim/real/functions.def"

#pragma GCC visibility pop

#endif
