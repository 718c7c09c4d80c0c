/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Entry points of the collectives, blocking, non-blocking and persistent, made from
 * collectives.def. Called through symbols.c in the application's threads.
 *
 * Arguments are checked and errors raised here, with the classes of Open MPI: it does
 * not check all arguments on all ranks, so that a wrong call that is given to it could
 * wait for the other ranks, which are with us.
 */
#include <stdlib.h>

#include "mpi_shim/calls/crowd.h"
#include "mpi_shim/calls/lint.h"
#include "mpi_shim/calls/mpi_calls.h"
#include "mpi_shim/collective/collective_bytes.h"
#include "mpi_shim/collective/collective_check.h"
#include "mpi_shim/collective/collective_fault.h"
#include "mpi_shim/collective/exchange_forms.h"
#include "mpi_shim/comm/comm_record.h"
#include "mpi_shim/comm/comm_table.h"
#include "mpi_shim/comm/numbers.h"
#include "mpi_shim/real/error.h"
#include "mpi_shim/real/handles.h"
#include "mpi_shim/real/pass.h"
#include "mpi_shim/request/request.h"

/** Whether Open MPI raises an error on MPI_COMM_WORLD. */
static bool is_raised_on_world(const struct shim_collective *call, int class)
{
    switch (class) {
    case MPI_ERR_TOPOLOGY:
    case MPI_ERR_COMM:
        return true;
    case MPI_ERR_BUFFER:
        return call->kind == SHIM_ALLREDUCE;
    case MPI_ERR_ARG: /* in place */
        return !call->send.is_vector &&
               (call->kind == SHIM_ALLTOALL || call->kind == SHIM_NEIGHBOR_ALLTOALL);
    default:
        return false;
    }
}

/** Raise an error class, and say what is wrong with the call. */
static __attribute__((noinline)) int raise_fault(const struct shim_collective *call,
                                                 int class)
{
    const struct shim_comm *comm;
    char words[SHIM_FAULT_BYTES] = "";

    shim_enter();
    comm = shim_comm_find(call->handle);
    if (comm != NULL) {
        shim_collective_fault(comm, call, class, words);
    }
    shim_leave();
    return shim_error_of(is_raised_on_world(call, class) ? NULL : call->handle, class,
                         words);
}

/** Raise an error class, if it is one. Inlined: see shim_keep_frame. */
static inline __attribute__((always_inline)) int
raise(const struct shim_collective *call, int class)
{
    return class == MPI_SUCCESS ? class : shim_keep_frame(raise_fault(call, class));
}

/** What a call is on a communicator that is not ours: not every function of the real
 *  library finds that there is none. */
static int class_without(MPI_Comm handle)
{
    return handle == NULL || handle == shim_handles.comm_null ? MPI_ERR_COMM
                                                              : SHIM_COLLECTIVE_FOREIGN;
}

/** The real library has carried out a call, or refused it: then it does not count. */
static int passed(const struct shim_collective *call, int rc)
{
    if (rc != MPI_SUCCESS && call->is_counted) {
        struct shim_comm *comm;

        shim_enter();
        comm = shim_comm_find(call->handle);
        if (comm != NULL) {
            comm->whole->n_started[!call->is_blocking]--;
        }
        shim_leave();
    }
    return rc;
}

/** The type of a member's data, for the lint. @return 0: not known, or there are no
 *  data */
static uint8_t type_of(const struct shim_layout *layout)
{
    const struct shim_datatype *type = layout->type;

    if (layout->buf == MPI_IN_PLACE || type == NULL || type->reduce_type < 0 ||
        type->size == 1 || (!layout->is_vector && layout->count == 0)) {
        return 0; /* what has one byte may be anything, as MPI_BYTE and MPI_PACKED */
    }
    return (uint8_t)(type->reduce_type + 1);
}

/** Note a collective for the lint: whatever is sent in it must be of the type of
 *  whatever is received. */
static void note(const struct shim_comm *comm, const struct shim_collective *call)
{
    enum shim_role role = shim_collective_role(comm, call->root);
    bool is_root = role == SHIM_ROLE_ROOT;
    uint8_t sent = type_of(&call->send), received = type_of(&call->receive);

    switch (call->kind) {
    case SHIM_BCAST:
        sent = is_root ? received : 0;
        received = is_root ? 0 : received;
        break;
    case SHIM_GATHER:
        received = is_root ? received : 0;
        break;
    case SHIM_SCATTER:
        sent = is_root ? sent : 0;
        break;
    case SHIM_ALLGATHER:
        break;
    case SHIM_ALLTOALL: /* of vectors it depends on the lengths */
        sent = call->send.is_vector ? 0 : sent;
        break;
    case SHIM_BARRIER:
    case SHIM_NEIGHBOR_ALLGATHER:
    case SHIM_NEIGHBOR_ALLTOALL:
        sent = received = 0;
        break;
    default:
        sent = received;
    }
    if (comm->whole->size > 1) {
        bool is_inter = shim_comm_is_inter(comm); /* a type for each direction */

        shim_lint_called(comm->whole->context_id, is_inter ? 0 : sent,
                         is_inter ? 0 : received);
    }
}

/** The MDS records, or the lint takes note. */
static __attribute__((noinline)) void
look_at(struct shim_comm *comm, const struct shim_collective *call, bool is_persistent)
{
    if (call->kind != SHIM_BARRIER && shim_state.collect != NULL) {
        shim_record_size(shim_collective_bytes(comm, call));
    }
    if (shim_state.lint != NULL && !is_persistent) {
        note(comm, call);
    }
}

/** Check a call, and look at it where that is wanted. @return as
 *  shim_collective_check */
static inline int check(struct shim_comm *comm, struct shim_collective *call,
                        bool is_persistent)
{
    int class = shim_collective_check(comm, call);

    if (__builtin_expect(shim_state.gate.pmpi_is_slow, 0) && class == MPI_SUCCESS) {
        look_at(comm, call, is_persistent);
    }
    return class;
}

/** Carry out a call. Inlined, since is_barrier is known then: the shortest call has no
 *  exchange. @return false: it is one for the real library */
static inline __attribute__((always_inline)) bool block(struct shim_exchange *exchange,
                                                        bool is_barrier, int *rc_out)
{
    struct shim_collective *call = &exchange->call;
    struct shim_comm *comm;
    bool has_crowd;
    int class;

    shim_enter();
    comm = shim_comm_find(call->handle);
    has_crowd = shim_is_threaded() && comm != NULL;
    if (__builtin_expect(has_crowd, 0)) {
        shim_crowd_begin(comm);
    }
    if (comm == NULL) {
        class = class_without(call->handle);
    } else if (is_barrier) {
        if (__builtin_expect(shim_state.gate.pmpi_is_slow, 0)) {
            shim_record_collective(comm, 0);
            look_at(comm, call, false);
        }
        class =
            shim_class_of_status(bcs_api_barrier(shim_context(), comm->whole, NULL));
    } else {
        class = check(comm, call, false);
    }
    if (class == MPI_SUCCESS && !is_barrier) {
        int status;

        shim_exchange_init(exchange);
        status = shim_exchange_start(exchange, comm, NULL);
        class = shim_class_of_status(shim_exchange_close(exchange, status));
    }
    if (!is_barrier) {
        shim_collective_forget(call);
    }
    if (__builtin_expect(has_crowd, 0)) {
        shim_crowd_end(comm);
    }
    shim_leave();
    if (class == SHIM_COLLECTIVE_FOREIGN) {
        return false;
    }
    *rc_out = raise(call, class);
    return true;
}

/** A request with an exchange of its own. @return NULL: no memory */
static struct shim_request *describe(const struct shim_collective *call,
                                     struct shim_comm *comm)
{
    struct shim_exchange *exchange = malloc(sizeof(*exchange));
    struct shim_request *request = exchange == NULL ? NULL : shim_request_new();

    if (request == NULL) {
        free(exchange);
        return NULL;
    }
    exchange->call = *call;
    shim_exchange_init(exchange);
    request->kind = SHIM_EXCHANGE;
    request->exchange = exchange;
    request->comm = comm;
    request->error_comm = call->handle;
    bcs_request_state(&request->base)->is_send = true;
    comm->n_users++;
    return request;
}

/** Make a request of a call that is in order; start it unless it is persistent. */
static int make_request(struct shim_collective *call, struct shim_comm *comm,
                        bool is_persistent, MPI_Request *request_out)
{
    struct shim_request *request = describe(call, comm);
    int class = MPI_SUCCESS;

    if (request == NULL) {
        shim_collective_forget(call);
        return MPI_ERR_NO_MEM;
    }
    if (is_persistent) {
        class = shim_class_of_status(shim_number_take(comm, &request->number));
        request->is_persistent = class == MPI_SUCCESS;
        shim_exchange_hold(request->exchange);
    } else {
        class = shim_request_start(request);
    }
    if (class == MPI_SUCCESS) {
        *request_out = shim_request_handle(request);
    } else {
        shim_request_delete(request);
    }
    return class;
}

/** Start a call, or make a persistent request. @return false: for the real library */
static bool request(struct shim_collective *call, bool is_persistent,
                    MPI_Request *request_out, int *rc_out)
{
    struct shim_comm *comm;
    int class;

    shim_enter();
    comm = shim_comm_find(call->handle);
    class =
        comm == NULL ? class_without(call->handle) : check(comm, call, is_persistent);
    if (class == MPI_SUCCESS && request_out == NULL) {
        class = MPI_ERR_REQUEST;
    }
    if (class == MPI_SUCCESS) {
        class = make_request(call, comm, is_persistent, request_out);
    } else {
        shim_collective_forget(call);
    }
    shim_leave();
    if (class == SHIM_COLLECTIVE_FOREIGN) {
        return false;
    }
    *rc_out = raise(call, class);
    return true;
}

/* How collectives.def describes data. */
#define SHIM_ONE(buffer, n, type)                                                      \
    {                                                                                  \
        .buf = buffer, .count = n, .datatype = type                                    \
    }
#define SHIM_EACH(buffer, n, at, type)                                                 \
    {                                                                                  \
        .buf = buffer, .is_vector = true, .counts = n, .displs = at, .datatype = type  \
    }
#define SHIM_TYPES(buffer, n, at, types)                                               \
    {                                                                                  \
        .buf = buffer, .is_vector = true, .has_types = true, .counts = n,              \
        .displs = at, .datatypes = types                                               \
    }
#define SHIM_TYPES_AINT(buffer, n, at, types)                                          \
    {                                                                                  \
        .buf = buffer, .is_vector = true, .has_types = true, .counts = n,              \
        .offsets = at, .datatypes = types                                              \
    }

#define SHIM_LIST(...) __VA_ARGS__

#define SHIM_COLLECTIVE(name, lower, kind_of_all, parameters, arguments, members)      \
    int shim_##name parameters                                                         \
    {                                                                                  \
        struct shim_exchange exchange;                                                 \
        int rc;                                                                        \
                                                                                       \
        exchange.call = (struct shim_collective){.kind = SHIM_##kind_of_all,           \
                                                 .handle = comm,                       \
                                                 .is_blocking = true,                  \
                                                 SHIM_LIST members};                   \
        return block(&exchange, SHIM_##kind_of_all == SHIM_BARRIER, &rc)               \
                   ? rc                                                                \
                   : passed(&exchange.call, shim_pass_##name arguments);               \
    }                                                                                  \
    int shim_I##lower(SHIM_LIST parameters, MPI_Request *request_out)                  \
    {                                                                                  \
        struct shim_collective call = {                                                \
            .kind = SHIM_##kind_of_all, .handle = comm, SHIM_LIST members};            \
        int rc;                                                                        \
                                                                                       \
        return request(&call, false, request_out, &rc)                                 \
                   ? rc                                                                \
                   : passed(&call,                                                     \
                            shim_pass_I##lower(SHIM_LIST arguments, request_out));     \
    }                                                                                  \
    int shim_##name##_init(SHIM_LIST parameters, MPI_Info info,                        \
                           MPI_Request *request_out)                                   \
    {                                                                                  \
        struct shim_collective call = {                                                \
            .kind = SHIM_##kind_of_all, .handle = comm, SHIM_LIST members};            \
        int rc;                                                                        \
                                                                                       \
        return request(&call, true, request_out, &rc)                                  \
                   ? rc                                                                \
                   : passed(&call, shim_pass_##name##_init(SHIM_LIST arguments, info,  \
                                                           request_out));              \
    }

#define SHIM_NEIGHBOR_COLLECTIVE SHIM_COLLECTIVE
#include "mpi_shim/real/collectives.def"
