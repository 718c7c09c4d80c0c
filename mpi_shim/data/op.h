/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI operations: which reduction kernel carries out an operation on a type, and how
 * the others are combined through the real library. Called by the shim's collectives in
 * the application's threads.
 */
#ifndef MPI_SHIM_OP_H
#define MPI_SHIM_OP_H

#include "mpi_shim/data/datatype.h"
#include "nic_threads/rules/reduce_ops.h"
#include <bcs/bcs.h>

/** The predefined operations; the first NIC_REDUCE_N_OPS are enum nic_reduce_op. */
enum shim_op {
    SHIM_OP_MAXLOC = NIC_REDUCE_N_OPS,
    SHIM_OP_MINLOC,
    SHIM_OP_N_REDUCTIONS,
    SHIM_OP_USER, /* made by the program */
    SHIM_OP_NONE, /* null, or not for reductions (MPI_REPLACE, MPI_NO_OP) */
};

/** How one reduction combines vectors. Fill with shim_op_prepare. */
struct shim_combine {
    MPI_Op op;
    const struct shim_datatype *type;
    int kernel;    /* nic_reduce_kernel number, or -1 */
    char *scratch; /* two vectors in the type's own layout, or NULL */
    char *left;    /* buffers to give to the real library, within scratch */
    char *right;
    size_t n_chunk; /* elements of one such vector */
    int status;     /* 0, or -errno if the real library has failed */
};

/** Resolve the operations' handles. Call once, after the real library's MPI_Init.
 *  @return 0 or -ENOMEM */
int shim_op_setup(void);

/** Forget all operations, after the real library's MPI_Finalize. */
void shim_op_teardown(void);

/** Which operation a handle is. */
enum shim_op shim_op_find(MPI_Op op);

/** Keep an operation usable even if the program frees it meanwhile. Without memory for
 *  that, it is not kept. Called under the lock. */
void shim_op_hold(MPI_Op op);

/** Undo one shim_op_hold; the last one carries out a free that was put off. */
void shim_op_release(MPI_Op op);

/** Free an operation as MPI_Op_free does, or when the calls under way that need it have
 *  ended. Takes the lock. @return MPI_SUCCESS or the error that was raised */
int shim_op_free(MPI_Op *op);

/** Whether a reduction of that type by that operation is defined and carried by us. */
bool shim_op_is_valid(enum shim_op op, const struct shim_datatype *type);

/**
 * Prepare combining vectors of up to count elements, each type->size contiguous bytes.
 *
 * @param op  shim_op_find(handle); valid for the type
 * @return 0        end with shim_op_finish
 * @return -ENOMEM  nothing to undo
 */
int shim_op_prepare(struct shim_combine *combine_out, MPI_Op handle, enum shim_op op,
                    const struct shim_datatype *type, size_t count);

/** A bcs_combine_fn; arg is the struct shim_combine. */
void shim_op_combine(void *arg, const void *left, void *right, size_t count);

/** Free what shim_op_prepare took. @return 0, or -errno if a shim_op_combine has
 *  failed */
int shim_op_finish(struct shim_combine *combine);

#endif
