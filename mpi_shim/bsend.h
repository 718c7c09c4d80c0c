/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The space of buffered sends: how much the program has attached, and how much of it is
 * in use. The data themselves are kept elsewhere. Called after shim_enter.
 */
#ifndef MPI_SHIM_BSEND_H
#define MPI_SHIM_BSEND_H

#include <stdbool.h>
#include <stddef.h>

/** Take space for one message. @return whether there was enough */
bool shim_bsend_reserve(size_t n_bytes);

/** The message has left: give its space back. */
void shim_bsend_release(size_t n_bytes);

#endif
