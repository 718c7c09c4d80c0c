/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is done with requests of ours: they are started, looked at, waited for and
 * given back. Called by entry points after shim_enter.
 */
#ifndef MPI_SHIM_REQUEST_H
#define MPI_SHIM_REQUEST_H

#include "libbcs/api/message/completion.h"
#include "libbcs/api/message/p2p.h"
#include "mpi_shim/comm/comm_record.h"
#include "mpi_shim/data/datatype.h"
#include "mpi_shim/real/handles.h"
#include "mpi_shim/real/state.h"
#include "mpi_shim/request/arena.h"
#include "mpi_shim/request/request_status.h"

/** The arguments of a point-to-point call. */
struct shim_call {
    enum shim_kind kind;
    const void *buffer;
    int count;
    MPI_Datatype datatype;
    int peer;
    int tag;
    MPI_Comm comm;
};

/** What watches buffers, see buffers.h, which has more behind it. */
struct shim_buffers {
    void (*check)(const struct shim_request *request); /* shim_buffers_check */
};

/** Whether the program may use a handle of ours: the operation is not over, nor has it
 *  let go of it. A copy of another one is MPI_ERR_REQUEST, on MPI_COMM_WORLD. */
static inline bool shim_request_is_live(const struct shim_request *request)
{
    return __builtin_expect(request->error_comm != NULL, 1);
}

static inline MPI_Request shim_request_handle(struct shim_request *request)
{
    return (MPI_Request)(void *)request;
}

/** Give a request back, with what it holds. */
void shim_request_delete(struct shim_request *request);

/**
 * Start the operation that a request describes. On an error nothing is pending.
 *
 * @return MPI_SUCCESS or an error class
 */
int shim_request_start(struct shim_request *request);

/** Whether a message needs nothing beside its request: no copy, nothing held for it,
 *  and nobody records or watches it. Not of a persistent request. */
static inline bool shim_request_can_be_plain(const struct shim_request *request)
{
    return (request->kind == SHIM_SEND || request->kind == SHIM_SEND_SYNCHRONOUS ||
            request->kind == SHIM_RECEIVE) &&
           request->type->is_dense && !request->is_proc_null && !shim_state.is_watched;
}

/** shim_request_start of a plain message. */
static inline int shim_request_start_plain(struct shim_request *request)
{
    const struct bcs_message message = {
        .group = &request->comm->group,
        .data = (void *)(uintptr_t)request->buffer,
        .n_bytes = (size_t)request->count * request->type->size,
        .peer = request->peer,
        .tag = request->tag,
    };
    int rc;

    if (request->kind == SHIM_RECEIVE) {
        rc = bcs_api_recv(shim_context(), &message, NULL, &request->base);
    } else {
        rc = bcs_api_send(shim_context(), &message,
                          request->kind == SHIM_SEND ? BCS_SEND_STANDARD
                                                     : BCS_SEND_SYNCHRONOUS,
                          &request->base);
    }
    request->is_active = request->is_plain = rc >= 0;
    return rc < 0 ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}

/** shim_request_start of a message that is described anew; inlined, so that a caller
 *  who knows the kind pays for that one only. */
static inline int shim_request_begin(struct shim_request *request)
{
    return shim_request_can_be_plain(request) ? shim_request_start_plain(request)
                                              : shim_request_start(request);
}

/** The call under way waits for a request: let the MDS know for what. */
static inline void shim_request_tell(const struct shim_request *request)
{
    if (__builtin_expect(shim_state.collect == NULL, 1) || !request->is_active ||
        request->is_proc_null) {
        return;
    }
    if (request->kind == SHIM_EXCHANGE) {
        mds_call_on(shim_state.collect, shim_record_comm(request->comm));
    } else {
        shim_record_target(request->comm, request->peer, request->tag);
    }
}

/** Look whether a request is complete (also: inactive); does not turn the engine. */
static inline bool shim_request_look(struct shim_request *request)
{
    return (bcs_is_done(&request->base) || bcs_look(shim_context(), &request->base)) &&
           (request->partner == NULL || shim_request_look(request->partner));
}

/** Wait for all that belongs to a request. */
static inline void shim_request_wait(struct shim_request *request)
{
    bcs_api_test(shim_context(), &request->base, true);
    if (request->partner != NULL) {
        shim_request_wait(request->partner);
    }
}

/**
 * After completion: fill the status (all but MPI_ERROR), and free the request or,
 * if it is persistent, make it inactive. *handle is set to null if it was freed.
 *
 * @return MPI_SUCCESS or the error class of the operation
 */
int shim_request_finish(MPI_Request *handle, MPI_Status *status);

/** A receive has got a longer message than it has room for: tell the user. @param comm
 *  NULL: it has been freed @return MPI_ERR_TRUNCATE */
int shim_truncated(const struct shim_comm *comm, const struct bcs_result *result);

/** The same of a request. */
int shim_request_truncated(const struct shim_request *request);

/** shim_request_finish of a plain request. */
static inline int shim_request_finish_plain(struct shim_request *request,
                                            MPI_Request *handle, MPI_Status *status)
{
    const struct bcs_result *result = &request->base.result; /* a send's is empty */
    int rc = MPI_SUCCESS;

    shim_status_set(status, result->source, result->tag, result->n_bytes,
                    result->error == BCS_E_CANCELLED);
    if (__builtin_expect(result->error == BCS_E_TRUNCATED, 0)) {
        rc = shim_request_truncated(request);
    }
    request->error_comm = NULL;
    request->comm = NULL;
    shim_request_rest(request);
    *handle = shim_handles.request_null;
    return rc;
}

/** The data of a request that is over go where they belong; once is enough.
 *  @return an error class */
int shim_request_settle(struct shim_request *request);

/** Fill the status of a complete request and leave it as it is. */
void shim_request_status(const struct shim_request *request, MPI_Status *status);

/**
 * The program lets go of a handle (MPI_Request_free): the operation goes on, and the
 * request is deleted when it is over. Not of an active collective.
 */
void shim_request_free(struct shim_request *request);

/** Move operations without a handle on, and delete those that are over. */
void shim_request_reap(void);

/** Wait until all sends without a handle are over. */
void shim_request_drain(void);

#endif
