/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arguments of collective calls of MPI, in all forms. The entry points (shim_Bcast
 * and so on) are declared in mpi_calls.h. Used by collective*.c, exchange_forms.c and
 * request.c.
 */
#ifndef MPI_SHIM_COLLECTIVE_H
#define MPI_SHIM_COLLECTIVE_H

#include <stdlib.h>

#include "mpi_shim/comm/comm.h"
#include "mpi_shim/data/buffer_side.h"
#include "mpi_shim/data/op.h"
#include <bcs/bcs.h>

/** The last column of collectives.def: those that differ in their arguments only are of
 *  one kind. */
enum shim_collective_kind {
    SHIM_BARRIER,
    SHIM_BCAST,
    SHIM_REDUCE,
    SHIM_ALLREDUCE,
    SHIM_REDUCE_SCATTER,
    SHIM_SCAN,
    SHIM_EXSCAN,
    SHIM_GATHER,
    SHIM_SCATTER,
    SHIM_ALLGATHER,
    SHIM_ALLTOALL,
    SHIM_NEIGHBOR_ALLGATHER,
    SHIM_NEIGHBOR_ALLTOALL,
};

/** The arguments of a collective call; what a function does not have is zero. */
struct shim_collective {
    enum shim_collective_kind kind;
    MPI_Comm handle;
    struct shim_layout send;
    struct shim_layout receive; /* broadcast: the buffer */
    MPI_Op op_handle;
    int root;
    bool is_blocking;
    bool is_counted; /* by shim_collective_check, though it is for the real library */
    enum shim_op op; /* found by shim_collective_check, with the types of the layouts */
};

/** What this rank does in a call with a root. */
enum shim_role {
    SHIM_ROLE_INVALID, /* no such root */
    SHIM_ROLE_NONE,    /* intercommunicator: the root is another rank of this side */
    SHIM_ROLE_MEMBER,
    SHIM_ROLE_ROOT, /* and a member, but on an intercommunicator */
};

/** Free what shim_collective_check has looked up. */
static inline void shim_collective_forget(struct shim_collective *call)
{
    if (call->send.types != NULL || call->receive.types != NULL) {
        free(call->send.types);
        free(call->receive.types);
        call->send.types = NULL;
        call->receive.types = NULL;
    }
}

#endif
