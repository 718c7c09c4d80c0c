/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective calls of MPI, in all forms: their arguments, the check of these, and an
 * exchange, which is one call that is carried out, from its buffers' opening to their
 * closing. The entry points (shim_Bcast and so on) are declared in mpi_calls.h. Used by
 * collective*.c and request.c.
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

/** Find the role; root is the call's, also MPI_ROOT or MPI_PROC_NULL. */
enum shim_role shim_collective_role(const struct shim_comm *comm, int root);

/** shim_collective_check: the call is one for the real library. */
#define SHIM_COLLECTIVE_FOREIGN (-1)

/**
 * Check the arguments, and look up what they name. Called under the lock.
 *
 * @return MPI_SUCCESS, the error class, or SHIM_COLLECTIVE_FOREIGN: a reduction that is
 *         not known here; so all ranks find. End with shim_collective_forget in any case
 */
int shim_collective_check(struct shim_comm *comm, struct shim_collective *call);

/** Bytes of this rank's data: that it sends, or that it gets, if it sends nothing or what is in
 *  place; of a reduction, of its operand. The call has been checked, and not forgotten. */
uint64_t shim_collective_bytes(struct shim_comm *comm,
                               const struct shim_collective *call);

/** Have the MDS record that a collective begins. Called while something is recorded. */
void shim_collective_record(struct shim_comm *comm, const struct shim_collective *call);

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

/** A collective call and its buffers as the API wants them. */
struct shim_exchange {
    struct shim_collective call;
    struct shim_side in, out;
    struct shim_blocks from, to;
    struct shim_combine combine;
    bool is_in_open, is_out_open, is_from_open, is_to_open; /* need closing */
    bool is_combining; /* combine is used until the exchange is over */
    bool is_held;      /* types and operation stay usable if the program frees them */
    int status;        /* of shim_exchange_close, once it is closed */
};

/** Make an exchange of a call without open buffers. Sets all but the call and what is
 *  not used before it is open. */
static inline void shim_exchange_init(struct shim_exchange *exchange)
{
    exchange->is_in_open = false;
    exchange->is_out_open = false;
    exchange->is_from_open = false;
    exchange->is_to_open = false;
    exchange->is_combining = false;
    exchange->is_held = false;
    exchange->status = 0;
}

/** Before shim_exchange_start: none of its buffers is known. */
static inline void shim_exchange_forget_buffers(struct shim_exchange *exchange)
{
    exchange->in = exchange->out = (struct shim_side){.data = NULL};
    exchange->from.layout = exchange->to.layout = NULL;
    exchange->from.blocks.data = NULL;
}

/**
 * Open the buffers and give them to the API. Called under the lock. Close in any case: at
 * once if this fails, or when the request is done.
 *
 * @param request  NULL: block
 * @return what the API has returned, or -ENOMEM
 */
int shim_exchange_start(struct shim_exchange *exchange, struct shim_comm *comm,
                        struct bcs_request *request);

/** Whether something remains to be done when a started exchange is over. */
static inline bool shim_exchange_is_open(const struct shim_exchange *exchange)
{
    return exchange->is_in_open || exchange->is_out_open || exchange->is_from_open ||
           exchange->is_to_open || exchange->is_combining;
}

/** The slow part of shim_exchange_close. */
int shim_exchange_close_buffers(struct shim_exchange *exchange, int status);

/**
 * Close the buffers; if status says so, what was received becomes the program's. Closing
 * once more does nothing.
 *
 * @param status  what the API's call or request has come to
 * @return status, or the first error in closing
 */
static inline int shim_exchange_close(struct shim_exchange *exchange, int status)
{
    status = exchange->status != 0 ? exchange->status : status;
    exchange->status = shim_exchange_is_open(exchange)
                           ? shim_exchange_close_buffers(exchange, status)
                           : status;
    return exchange->status;
}

/** Keep what the call names until shim_exchange_free; of an exchange from malloc. */
void shim_exchange_hold(struct shim_exchange *exchange);

/** Close, forget and free an exchange from malloc. Accepts NULL. */
void shim_exchange_free(struct shim_exchange *exchange);

#endif
