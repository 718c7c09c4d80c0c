/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which communicators the shim carries, from the moment at which all members have
 * agreed on one until it is freed. Called by entry points after shim_enter.
 */
#ifndef MPI_SHIM_COMM_TABLE_H
#define MPI_SHIM_COMM_TABLE_H

#include "mpi_shim/comm/comm.h"

/** The name of the communicator that a group of ours belongs to. */
void shim_comm_name_group(const struct bcs_group *group, char *name_out,
                          size_t n_name_bytes);

/** The same of a context id of a group of ours; "": of none. */
void shim_comm_name_context(uint64_t context_id, char *name_out, size_t n_name_bytes);

/** The slow part of shim_comm_find. */
struct shim_comm *shim_comm_search(MPI_Comm handle);

/** @return the communicator, or NULL: not ours (also when it is not valid at all) */
static inline struct shim_comm *shim_comm_find(MPI_Comm handle)
{
    struct shim_comm *comm = shim_state.last_comm;

    return __builtin_expect(comm != NULL && comm->handle == handle, 1)
               ? comm
               : shim_comm_search(handle);
}

/**
 * Begin to carry a communicator that the real library has just made. Collective over
 * it; MPI_COMM_NULL, or one with processes of another job, is left alone. Call without
 * the lock.
 *
 * @return MPI_SUCCESS, or the code that the error handler has been called with
 */
int shim_comm_add(MPI_Comm handle);

/** The same of one that a library has made from another one for its own messages, which
 *  the program does not see. It has the name of the other one in reports. */
int shim_comm_add_hidden(MPI_Comm handle, MPI_Comm of);

/** The context id of the communicator that the program sees in place of a hidden one.
 *  @return context_id: it is not hidden */
uint64_t shim_comm_shown(uint64_t context_id);

struct shim_agreement;

/** Begin to carry a communicator that all members have agreed on. Called under the
 *  lock.
 *  @return 0 or -ENOMEM */
int shim_comm_carry(MPI_Comm handle, const struct shim_agreement *agreement);

/** Keep the names of all communicators that were recorded: recording is about to
 *  end. */
void shim_comm_record_names(void);

/** Before a communicator is freed: leave it. Does not wait. */
void shim_comm_retire(MPI_Comm handle);

/** Begin to carry MPI_COMM_WORLD and MPI_COMM_SELF. @return 0 or -errno */
int shim_comm_setup(void);

/** Forget all communicators, after the real MPI_Finalize. */
void shim_comm_teardown(void);

#endif
