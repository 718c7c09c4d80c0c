/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests of ours: what an MPI_Request handle that the shim has given out points to.
 * They live in an arena, so that an array of requests may mix them with the real
 * library's: a handle is ours if it lies in the arena. That is made of slabs, each as large as
 * all before it, and grows with the number of requests. Called by entry points after
 * shim_enter.
 */
#ifndef MPI_SHIM_REQUEST_H
#define MPI_SHIM_REQUEST_H

#include <stddef.h>

#include "libbcs/api/message/completion.h"
#include "libbcs/api/message/p2p.h"
#include "mpi_shim/comm/comm_record.h"
#include "mpi_shim/data/datatype.h"
#include "mpi_shim/real/handles.h"
#include "mpi_shim/real/state.h"
#include "mpi_shim/request/bsend_space.h"
#include "mpi_shim/request/request_status.h"

/** How a request's send sends, or that it receives. */
enum shim_kind {
    SHIM_SEND,
    SHIM_SEND_OF_COPY, /* of the data as they are now */
    SHIM_SEND_SYNCHRONOUS,
    SHIM_SEND_BUFFERED,
    SHIM_RECEIVE,
    /* Those from here on hold their communicator. */
    SHIM_RECEIVE_MESSAGE, /* that a matched probe has taken */
    SHIM_EXCHANGE,        /* a collective */
};

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

/** A non-blocking or persistent operation. */
struct shim_request {
    struct bcs_request base;
    enum shim_kind kind;
    int count;
    const void *buffer;
    MPI_Comm error_comm; /* whose error handler is called; NULL: the program has no
                                  such request, now */
    /* Fortran's MPI_Wait reads an int here after the call: Open MPI's own index. */
    int32_t fortran_handle;
    int32_t peer;
    int32_t tag;
    uint32_t message_item; /* receive of a matched probe */
    uint32_t
        number; /* of a persistent collective, see numbers.h; of a buffered send and of what
                        carries it, equal and not 0 */
    const struct shim_datatype *type;
    struct shim_comm *comm;    /* there until the request is over */
    struct shim_request *next; /* free list, orphans */
    char *copy;                /* of the data, without gaps, or NULL */
    bool is_persistent;        /* holds type and comm */
    bool holds_type;           /* for data with gaps */
    bool holds_comm; /* to record whom the message is of, or as it was freed */
    bool is_active;
    bool is_proc_null;
    bool is_plain;    /* when it is over, its result is all there is to hand over */
    bool is_buffered; /* copy counts as used space of the attached buffer */
    /* Of a collective, while something remains to be done at its end, or persistent. */
    struct shim_exchange *exchange;
    struct shim_request *partner; /* the send that is part of this receive, or NULL */
};

_Static_assert(offsetof(struct shim_request, fortran_handle) == 0x68,
               "where Open MPI has its Fortran index");

enum { SHIM_FORTRAN_BASE = 1 << 30 };

enum {
    SHIM_N_RESTING = 64,
    SHIM_FIRST_SLAB = 1024, /* requests of the first slab, and of the second */
    SHIM_SLABS_MOST = 20,
};

/** What is remembered of the requests of ours. Slab 0, from shim_state.requests to
 *  shim_state.requests_end, has the first ones, slab i those from SHIM_FIRST_SLAB << (i - 1) on. */
struct shim_arena {
    struct shim_request *slabs[SHIM_SLABS_MOST];
    uint32_t n_slabs;
    struct shim_request *free;
    /* Requests that go on without a handle. While there are any, calls end with a look at
     * them: what has arrived before a call is in its buffer after it. */
    struct shim_request *orphans;
    uint32_t n_carriers; /* buffered sends that did not end at once, so far */
    /* Those that were deleted last, in a ring: a copy of such a handle that the program
     * has kept is found out, and not taken for a new request. */
    struct shim_request *resting[SHIM_N_RESTING];
    uint32_t next_resting;
    uint32_t n_touched;
    uint32_t n_used;
    struct shim_bsend_space space;
};

/** What watches buffers, see buffers.h, which has more behind it. */
struct shim_buffers {
    void (*check)(const struct shim_request *request); /* shim_buffers_check */
};

/** Make the arena. @return 0 or -ENOMEM */
int shim_request_setup(void);

/** Give the arena back. */
void shim_request_teardown(void);

/** The rest of shim_request_find: whether a request is in a later slab. */
struct shim_request *shim_request_find_later(struct shim_request *request);

/** @return our request behind a handle, or NULL: null or the real library's */
static inline struct shim_request *shim_request_find(MPI_Request handle)
{
    struct shim_request *request = (struct shim_request *)(void *)handle;

    return request >= shim_state.requests && request < shim_state.requests_end
               ? request
               : shim_request_find_later(request);
}

/** Whether the program may use a handle of ours: the operation is not over, nor has it let
 *  go of it. A copy of another one is MPI_ERR_REQUEST, on MPI_COMM_WORLD. */
static inline bool shim_request_is_live(const struct shim_request *request)
{
    return __builtin_expect(request->error_comm != NULL, 1);
}

/** The request with a number below n_touched. */
static inline struct shim_request *shim_request_at(uint32_t index)
{
    uint32_t slab, before;

    if (index < SHIM_FIRST_SLAB) {
        return &shim_state.requests[index];
    }
    slab = 32 - (uint32_t)__builtin_clz(index / SHIM_FIRST_SLAB);
    before = (uint32_t)SHIM_FIRST_SLAB << (slab - 1);
    return &shim_state.arena->slabs[slab][index - before];
}

/** @return the request behind Fortran's handle, which is one of ours; NULL: no such */
static inline struct shim_request *shim_request_of_fortran(MPI_Fint handle)
{
    uint32_t index = (uint32_t)handle - SHIM_FORTRAN_BASE;

    return index < shim_state.arena->n_touched ? shim_request_at(index) : NULL;
}

static inline MPI_Request shim_request_handle(struct shim_request *request)
{
    return (MPI_Request)(void *)request;
}

/** @return a fresh request, zero but for its Fortran handle; NULL: too many */
struct shim_request *shim_request_new(void);

/** Before a communicator is freed: errors of its requests that are not over are raised
 *  on MPI_COMM_WORLD, as are all that belong to no communicator; but they hold it. */
void shim_request_outlive(MPI_Comm comm);

/** Let a request that has just been deleted rest, in place of the one that has rested for
 *  longest. */
void shim_request_rest(struct shim_request *request);

/** Give a request back, with what it holds. */
void shim_request_delete(struct shim_request *request);

/**
 * Start the operation that a request describes. On an error nothing is pending.
 *
 * @return MPI_SUCCESS or an error class
 */
int shim_request_start(struct shim_request *request);

/** Whether a message needs nothing beside its request: no copy, nothing held for it, and nobody
 *  records or watches it. Not of a persistent request. */
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

/** shim_request_start of a message that is described anew; inlined, so that a caller who knows
 *  the kind pays for that one only. */
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

/** A receive has got a longer message than it has room for: tell the user. @param comm  NULL: it has been
 *  freed @return MPI_ERR_TRUNCATE */
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

/** Take an active request back, if that can be: then it is done, and cancelled. */
void shim_request_cancel(struct shim_request *request);

/** Move operations without a handle on, and delete those that are over. */
void shim_request_reap(void);

/** Wait until all sends without a handle are over. */
void shim_request_drain(void);

/** A test has found that something is not over: move it on. Called under the lock. @return
 *  whether something may have come of it, so that it should look again */
bool shim_request_progress(void);

#endif
