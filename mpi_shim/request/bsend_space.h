/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The space of buffered sends: how much the program has attached, and how much of it is
 * in use. The attached memory itself is not used: short messages go to NIC memory at
 * once, long ones to a copy of their own; but space is accounted for as the standard
 * says, so that a program that overruns its buffer finds out. Called after shim_enter.
 */
#ifndef MPI_SHIM_BSEND_SPACE_H
#define MPI_SHIM_BSEND_SPACE_H

#include <stdbool.h>
#include <stddef.h>

/** The buffer of the program. */
struct shim_bsend_space {
    void *base; /* NULL: none is attached */
    size_t n_bytes;
    size_t used_bytes;
};

/** Account for a buffer of the program. @return false: there is one already */
bool shim_bsend_attach(struct shim_bsend_space *space, void *buffer, size_t n_bytes);

/** There is no buffer any more. All its messages have left. */
void shim_bsend_detach(struct shim_bsend_space *space);

/** Take space for one message. @return whether there was enough */
bool shim_bsend_reserve(struct shim_bsend_space *space, size_t n_bytes);

/** The message has left: give its space back. */
void shim_bsend_release(struct shim_bsend_space *space, size_t n_bytes);

#endif
