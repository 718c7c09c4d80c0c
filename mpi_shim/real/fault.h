/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is wrong with an argument, in words, for an error that ends the job. Called by
 * the entry points, in the calling thread.
 */
#ifndef SHIM_FAULT_H
#define SHIM_FAULT_H

#include "mpi_shim/real/error.h"

#pragma GCC visibility push(hidden)

enum { SHIM_FAULT_BYTES = 128 };

/** The arguments that an error may be about; what a call does not have is not read. */
struct shim_fault {
    int count;
    int block; /* of which rank a vector's count or type is; -1: of none */
    int rank;  /* a partner, or the root */
    int n_ranks;
    int tag;
    MPI_Datatype datatype;
    MPI_Op op;
};

/**
 * Say what is wrong, as "root 7, but the communicator has ranks 0-1".
 *
 * @param error_class  MPI_ERR_ROOT and the like
 * @param words_out    "": there is no more to say of this class
 */
void shim_fault_words(int error_class, const struct shim_fault *fault,
                      char words_out[SHIM_FAULT_BYTES]);

/**
 * The real library has judged a call on a communicator, behind shim_hush_begin, and rc
 * is what it says: raise it, unless it has. As shim_error_of.
 *
 * @param own_class  what we have against a call that the real library has not; or
 *                   MPI_SUCCESS
 * @return an error code
 */
int shim_fault_raise(const struct shim_hush *hush, MPI_Comm comm,
                     const struct shim_fault *fault, int own_class, int rc);

#pragma GCC visibility pop

#endif
