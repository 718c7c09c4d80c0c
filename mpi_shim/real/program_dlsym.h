/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dlsym as the program calls it, which this library takes over, and as the C library
 * has it. Any thread.
 */
#ifndef MPI_SHIM_REAL_PROGRAM_DLSYM_H
#define MPI_SHIM_REAL_PROGRAM_DLSYM_H

#pragma GCC visibility push(hidden)

/** dlsym of the C library, for a handle: the answer is never a function of ours in
 *  place of the MPI library's. @return NULL: there is no such symbol */
void *shim_handle_symbol(void *handle, const char *name);

#pragma GCC visibility pop

#endif
