/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The members of a communicator assemble in us before the real library makes something
 * of it for all of them: another communicator, a window, a file, processes. The real
 * library cannot tell who is missing; a wait of ours can, and takes part in the proof
 * of a deadlock under the name of the call. Functions like shim_pass_<Name> (pass.h),
 * made from functions.def. In the application's threads.
 */
#ifndef MPI_SHIM_CALLS_ASSEMBLE_H
#define MPI_SHIM_CALLS_ASSEMBLE_H

#include "mpi_shim/real/real.h"

#pragma GCC visibility push(hidden)

/**
 * Wait until all members of a communicator are in a function. Returns at once for a
 * communicator that is not ours, or of this process alone. Call it outside of the door.
 *
 * @return MPI_SUCCESS; or an error class, which has been raised: members are in another
 *         collective of the communicator
 */
int shim_assemble(MPI_Comm handle, enum shim_function function);

/** Hook: the name of a function by its number (struct bcs_hooks). */
const char *shim_assemble_name(unsigned int function);

#define SHIM_ASSEMBLED(name, parameters, arguments)                                    \
    int shim_assembled_##name parameters;
#include "mpi_shim/real/functions.def"

#pragma GCC visibility pop

#endif
