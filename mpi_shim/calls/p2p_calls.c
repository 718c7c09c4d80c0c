/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Entry points that send and receive (MPI 3.1, chapter 3). The application's threads.
 *
 * Arguments that MPI forbids are found here only as far as it is cheap to see that
 * something is wrong; the same call then goes to the real library, which finds out
 * what, and calls the error handler with the right class. It must not carry the call
 * out.
 */
#include "mpi_shim/calls/mpi_calls.h"
#include "mpi_shim/calls/watch_send.h"
#include "mpi_shim/comm/comm_record.h"
#include "mpi_shim/comm/comm_table.h"
#include "mpi_shim/real/fault.h"
#include "mpi_shim/real/handles.h"
#include "mpi_shim/real/pass.h"
#include "mpi_shim/request/request.h"

static inline bool is_usable(const void *buf, int count,
                             const struct shim_datatype *type)
{
    return count >= 0 && type != NULL && shim_datatype_fits(type, buf, count);
}

static inline bool is_target(const struct shim_comm *comm, int peer)
{
    return (uint32_t)peer < (uint32_t)comm->group.size || peer == MPI_PROC_NULL;
}

static inline bool is_source(const struct shim_comm *comm, int peer)
{
    return is_target(comm, peer) || peer == MPI_ANY_SOURCE;
}

static inline bool is_valid_send(const struct shim_comm *comm, const void *buf,
                                 int count, const struct shim_datatype *type, int peer,
                                 int tag)
{
    return is_usable(buf, count, type) && tag >= 0 && is_target(comm, peer);
}

static inline bool is_valid_receive(const struct shim_comm *comm, const void *buf,
                                    int count, const struct shim_datatype *type,
                                    int peer, int tag)
{
    return is_usable(buf, count, type) && (tag >= 0 || tag == MPI_ANY_TAG) &&
           is_source(comm, peer);
}

static bool is_valid_exchange(const struct shim_call *out, const struct shim_call *in,
                              const struct shim_comm *comm)
{
    return is_valid_send(comm, out->buffer, out->count,
                         shim_datatype_find(out->datatype), out->peer, out->tag) &&
           is_valid_receive(comm, in->buffer, in->count,
                            shim_datatype_find(in->datatype), in->peer, in->tag);
}

/** Whom a wrong call is for when the real library judges it: if there is such a peer,
 *  nobody, since what is wrong in our eyes only would be carried out. */
static int judged_target(const struct shim_comm *comm, int peer)
{
    return is_target(comm, peer) ? MPI_PROC_NULL : peer;
}

static int judged_source(const struct shim_comm *comm, int peer)
{
    return is_source(comm, peer) ? MPI_PROC_NULL : peer;
}

/** The real library has judged a call; some functions do not look at their data.
 *  The call comes by value, as entry points keep theirs in registers. @return an error
 *  code */
static __attribute__((noinline)) int refuse(const struct shim_hush *hush,
                                            const struct shim_comm *comm,
                                            struct shim_call call, int rc)
{
    const struct shim_fault fault = {
        .count = call.count,
        .block = -1,
        .rank = call.peer,
        .n_ranks = comm->group.size,
        .tag = call.tag,
        .datatype = call.datatype,
    };
    int own_class =
        shim_datatype_find(call.datatype) == NULL ? MPI_ERR_TYPE : MPI_ERR_BUFFER;

    return shim_fault_raise(hush, call.comm, &fault, own_class, rc);
}

/** Make a request of a call; NULL: too many. */
static inline struct shim_request *describe(const struct shim_call *call,
                                            struct shim_comm *comm,
                                            const struct shim_datatype *type)
{
    struct shim_request *request = shim_request_new();

    if (request != NULL) {
        request->kind = call->kind;
        request->buffer = call->buffer;
        request->count = call->count;
        request->type = type;
        request->peer = call->peer;
        request->tag = call->tag;
        request->comm = comm;
        request->error_comm = call->comm;
        request->is_proc_null = call->peer == MPI_PROC_NULL;
    }
    return request;
}

/** Start a non-blocking call whose arguments are valid. Inlined, as the kind is known
 *  there. */
static inline __attribute__((always_inline)) int start(const struct shim_call *call,
                                                       struct shim_comm *comm,
                                                       const struct shim_datatype *type,
                                                       MPI_Request *request_out)
{
    struct shim_request *request = describe(call, comm, type);
    int rc = request == NULL ? MPI_ERR_NO_MEM : shim_request_begin(request);

    if (rc == MPI_SUCCESS) {
        *request_out = shim_request_handle(request);
    } else if (request != NULL) {
        shim_request_delete(request);
    }
    return rc;
}

/** Whether data go through a copy, which only a request has. */
static inline bool is_copied(const struct shim_datatype *type, size_t n_bytes)
{
    return __builtin_expect(!type->is_dense, 0) &&
           bcs_wants_copy(shim_context(), n_bytes);
}

/** Wait for a request that has been started, and complete it. */
static int complete(MPI_Request *request, MPI_Status *status)
{
    shim_request_tell(shim_request_find(*request));
    shim_request_wait(shim_request_find(*request));
    return shim_request_finish(request, status);
}

/** Carry a call whose arguments are valid out by a request. */
static __attribute__((noinline)) int carry_out(const struct shim_call *call,
                                               struct shim_comm *comm,
                                               const struct shim_datatype *type,
                                               MPI_Status *status)
{
    MPI_Request request;
    int rc = start(call, comm, type, &request);

    return rc == MPI_SUCCESS ? complete(&request, status) : rc;
}

/** Send data with gaps; another thread may free their type meanwhile. */
static int send_laid_out(struct bcs_message *message, const struct shim_datatype *type,
                         enum bcs_send_mode mode)
{
    int rc;

    bcs_message_lay_out(message, type->layout);
    shim_datatype_hold(type);
    rc = bcs_api_send(shim_context(), message, mode, NULL);
    shim_datatype_release(type);
    return rc;
}

/** Receive data with gaps. */
static int receive_laid_out(struct bcs_message *message,
                            const struct shim_datatype *type,
                            struct bcs_result *result_out)
{
    int rc;

    bcs_message_lay_out(message, type->layout);
    shim_datatype_hold(type);
    rc = bcs_api_recv(shim_context(), message, result_out, NULL);
    shim_datatype_release(type);
    return rc;
}

/** A blocking send whose arguments are valid; will_wait: it is all that the call
 *  does. */
static inline int send_now(const struct shim_call *call, struct shim_comm *comm,
                           const struct shim_datatype *type, bool will_wait)
{
    enum bcs_send_mode mode =
        call->kind == SHIM_SEND_SYNCHRONOUS ? BCS_SEND_SYNCHRONOUS : BCS_SEND_STANDARD;
    struct bcs_message message = {
        .group = &comm->group,
        .data = (void *)(uintptr_t)call->buffer,
        .n_bytes = (size_t)call->count * type->size,
        .peer = call->peer,
        .tag = call->tag,
        .will_wait = will_wait,
    };
    int rc;

    if (call->peer == MPI_PROC_NULL) {
        return MPI_SUCCESS;
    }
    if (is_copied(type, message.n_bytes)) {
        return carry_out(call, comm, type, MPI_STATUS_IGNORE);
    }
    if (__builtin_expect(shim_state.is_watched, 0)) {
        shim_watch_send(call, comm, type);
    }
    rc = type->is_dense ? bcs_api_send(shim_context(), &message, mode, NULL)
                        : send_laid_out(&message, type, mode);
    return rc < 0 ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}

static inline int send_alone(const struct shim_call *call, struct shim_comm *comm,
                             const struct shim_datatype *type)
{
    return send_now(call, comm, type, true);
}

static inline int send_buffered(const struct shim_call *call, struct shim_comm *comm,
                                const struct shim_datatype *type)
{
    return carry_out(call, comm, type, MPI_STATUS_IGNORE);
}

/** An entry point that only sends: in which mode, and what carries it out; real finds
 *  the errors. */
#define BLOCKING_SEND(name, kind, send)                                                \
    int shim_##name(const void *buf, int count, MPI_Datatype datatype, int dest,       \
                    int tag, MPI_Comm comm)                                            \
    {                                                                                  \
        const struct shim_call call = {kind, buf, count, datatype, dest, tag, comm};   \
        const struct shim_datatype *type;                                              \
        struct shim_comm *ours;                                                        \
        struct shim_hush hush;                                                         \
        int rc;                                                                        \
                                                                                       \
        shim_enter();                                                                  \
        ours = shim_comm_find(comm);                                                   \
        type = ours == NULL ? NULL : shim_datatype_find(datatype);                     \
        if (ours == NULL || !is_valid_send(ours, buf, count, type, dest, tag)) {       \
            shim_leave();                                                              \
            if (ours == NULL) {                                                        \
                return shim_pass_##name(buf, count, datatype, dest, tag, comm);        \
            }                                                                          \
            hush = shim_hush_begin(comm);                                              \
            rc = shim_real.name(buf, count, datatype, judged_target(ours, dest), tag,  \
                                comm);                                                 \
            return shim_keep_frame(refuse(&hush, ours, call, rc));                     \
        }                                                                              \
        rc = send(&call, ours, type);                                                  \
        shim_leave();                                                                  \
        return shim_error(comm, rc);                                                   \
    }

BLOCKING_SEND(Send, SHIM_SEND, send_alone)
BLOCKING_SEND(Rsend, SHIM_SEND, send_alone)
BLOCKING_SEND(Ssend, SHIM_SEND_SYNCHRONOUS, send_alone)
BLOCKING_SEND(Bsend, SHIM_SEND_BUFFERED, send_buffered)

/** Free what the real library has made of a wrong call. */
static void drop(MPI_Request *unused)
{
    if (*unused != shim_handles.request_null) {
        shim_real.Request_free(unused);
    }
}

/** A persistent request; it is not started. */
static int describe_persistent(const struct shim_call *call, struct shim_comm *comm,
                               const struct shim_datatype *type,
                               MPI_Request *request_out)
{
    struct shim_request *request = describe(call, comm, type);

    if (request == NULL) {
        return MPI_ERR_NO_MEM;
    }
    request->is_persistent = true;
    comm->n_users++;
    shim_datatype_hold(type);
    *request_out = shim_request_handle(request);
    return MPI_SUCCESS;
}

/** An entry point that makes a request: way is send or receive, to or from a target or
 *  source; make starts it, or only describes it. */
#define MAKES_REQUEST(name, constness, request_kind, way, end, make)                   \
    int shim_##name(constness void *buf, int count, MPI_Datatype datatype, int peer,   \
                    int tag, MPI_Comm comm, MPI_Request *request)                      \
    {                                                                                  \
        const struct shim_call call = {request_kind, buf, count, datatype,             \
                                       peer,         tag, comm};                       \
        const struct shim_datatype *type;                                              \
        struct shim_comm *ours;                                                        \
        struct shim_hush hush;                                                         \
        int rc;                                                                        \
                                                                                       \
        shim_enter();                                                                  \
        ours = shim_comm_find(comm);                                                   \
        type = ours == NULL ? NULL : shim_datatype_find(datatype);                     \
        if (ours == NULL || request == NULL ||                                         \
            !is_valid_##way(ours, buf, count, type, peer, tag)) {                      \
            MPI_Request unused = shim_handles.request_null;                            \
            shim_leave();                                                              \
            if (ours == NULL) {                                                        \
                return shim_pass_##name(buf, count, datatype, peer, tag, comm,         \
                                        request);                                      \
            }                                                                          \
            hush = shim_hush_begin(comm);                                              \
            rc = shim_real.name(buf, count, datatype, judged_##end(ours, peer), tag,   \
                                comm, request == NULL ? NULL : &unused);               \
            drop(&unused);                                                             \
            return shim_keep_frame(refuse(&hush, ours, call, rc));                     \
        }                                                                              \
        rc = make(&call, ours, type, request);                                         \
        shim_leave();                                                                  \
        return shim_error(comm, rc);                                                   \
    }

MAKES_REQUEST(Isend, const, SHIM_SEND, send, target, start)
MAKES_REQUEST(Irsend, const, SHIM_SEND, send, target, start)
MAKES_REQUEST(Issend, const, SHIM_SEND_SYNCHRONOUS, send, target, start)
MAKES_REQUEST(Ibsend, const, SHIM_SEND_BUFFERED, send, target, start)
MAKES_REQUEST(Irecv, , SHIM_RECEIVE, receive, source, start)
MAKES_REQUEST(Send_init, const, SHIM_SEND, send, target, describe_persistent)
MAKES_REQUEST(Rsend_init, const, SHIM_SEND, send, target, describe_persistent)
MAKES_REQUEST(Ssend_init, const, SHIM_SEND_SYNCHRONOUS, send, target,
              describe_persistent)
MAKES_REQUEST(Bsend_init, const, SHIM_SEND_BUFFERED, send, target, describe_persistent)
MAKES_REQUEST(Recv_init, , SHIM_RECEIVE, receive, source, describe_persistent)

/** A blocking receive whose arguments are valid. @return an MPI error class */
static inline int receive_now(const struct shim_call *call, struct shim_comm *comm,
                              const struct shim_datatype *type, MPI_Status *status)
{
    struct bcs_message message = {
        .group = &comm->group,
        .data = (void *)(uintptr_t)call->buffer,
        .n_bytes = (size_t)call->count * type->size,
        .peer = call->peer,
        .tag = call->tag,
    };
    struct bcs_result result;
    int rc;

    if (call->peer == MPI_PROC_NULL) {
        shim_status_set_proc_null(status);
        return MPI_SUCCESS;
    }
    if (is_copied(type, message.n_bytes)) {
        return carry_out(call, comm, type, status);
    }
    shim_record_target(comm, call->peer, call->tag);
    rc = type->is_dense ? bcs_api_recv(shim_context(), &message, &result, NULL)
                        : receive_laid_out(&message, type, &result);
    if (rc < 0) {
        return MPI_ERR_NO_MEM;
    }
    shim_record_size(result.n_bytes);
    shim_record_received(comm, result.source, result.tag, result.n_bytes);
    shim_status_set(status, result.source, result.tag, result.n_bytes, false);
    return __builtin_expect(rc == BCS_E_TRUNCATED, 0) ? shim_truncated(comm, &result)
                                                      : MPI_SUCCESS;
}

int shim_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag,
              MPI_Comm comm, MPI_Status *status)
{
    const struct shim_call call = {SHIM_RECEIVE, buf, count, datatype,
                                   source,       tag, comm};
    const struct shim_datatype *type;
    struct shim_comm *ours;
    struct shim_hush hush;
    int rc;

    shim_enter();
    ours = shim_comm_find(comm);
    type = ours == NULL ? NULL : shim_datatype_find(datatype);
    if (ours == NULL || !is_valid_receive(ours, buf, count, type, source, tag)) {
        shim_leave();
        if (ours == NULL) {
            return shim_pass_Recv(buf, count, datatype, source, tag, comm, status);
        }
        hush = shim_hush_begin(comm);
        rc = shim_real.Recv(buf, count, datatype, judged_source(ours, source), tag,
                            comm, MPI_STATUS_IGNORE);
        return shim_keep_frame(refuse(&hush, ours, call, rc));
    }
    rc = receive_now(&call, ours, type, status);
    shim_leave();
    return shim_error(comm, rc);
}

/** Receive and send at the same time; both calls are valid. */
static int exchange(const struct shim_call *out, const struct shim_call *in,
                    struct shim_comm *comm, MPI_Status *status)
{
    MPI_Request request;
    struct shim_request *receive;
    int rc = start(in, comm, shim_datatype_find(in->datatype), &request);

    if (rc != MPI_SUCCESS) {
        return rc;
    }
    rc = send_now(out, comm, shim_datatype_find(out->datatype), false);
    receive = shim_request_find(request);
    if (rc != MPI_SUCCESS) {
        shim_request_free(receive);
        return rc;
    }
    bcs_api_test(shim_context(), &receive->base, true);
    return shim_request_finish(&request, status);
}

/** Start to send, and then to receive, as one request; both calls are valid. */
static int start_both(const struct shim_call *out, const struct shim_call *in,
                      struct shim_comm *comm, MPI_Request *request_out)
{
    MPI_Request send, receive;
    int rc = start(out, comm, shim_datatype_find(out->datatype), &send);

    if (rc != MPI_SUCCESS) {
        return rc;
    }
    rc = start(in, comm, shim_datatype_find(in->datatype), &receive);
    if (rc != MPI_SUCCESS) {
        shim_request_free(shim_request_find(send));
        return rc;
    }
    shim_request_find(receive)->partner = shim_request_find(send);
    shim_request_find(receive)->is_plain = false; /* the send is completed with it */
    *request_out = receive;
    return MPI_SUCCESS;
}

/** The same, and wait. */
static int exchange_both(const struct shim_call *out, const struct shim_call *in,
                         struct shim_comm *comm, MPI_Status *status)
{
    MPI_Request request;
    int rc = start_both(out, in, comm, &request);

    return rc == MPI_SUCCESS ? complete(&request, status) : rc;
}

/** The one of the two in which something is wrong, if that is known. */
static struct shim_call wrong_of(struct shim_call out, struct shim_call in,
                                 const struct shim_comm *comm)
{
    bool is_valid = is_valid_send(comm, out.buffer, out.count,
                                  shim_datatype_find(out.datatype), out.peer, out.tag);

    return is_valid ? in : out;
}

/** The body of an entry point that sends and receives: what is its own argument,
 *  whether that is in order, what carries the call out, and all arguments. */
#define EXCHANGE(name, argument, is_in_order, carry, ...)                              \
    {                                                                                  \
        struct shim_comm *ours;                                                        \
        struct shim_hush hush;                                                         \
        int rc;                                                                        \
                                                                                       \
        shim_enter();                                                                  \
        ours = shim_comm_find(comm);                                                   \
        if (ours == NULL || !(is_in_order) || !is_valid_exchange(&out, &in, ours)) {   \
            shim_leave();                                                              \
            if (ours == NULL) {                                                        \
                return shim_pass_##name(__VA_ARGS__);                                  \
            }                                                                          \
            dest = judged_target(ours, dest);                                          \
            source = judged_source(ours, source);                                      \
            hush = shim_hush_begin(comm);                                              \
            rc = shim_real.name(__VA_ARGS__);                                          \
            return shim_keep_frame(refuse(&hush, ours, wrong_of(out, in, ours), rc));  \
        }                                                                              \
        rc = carry(&out, &in, ours, argument);                                         \
        shim_leave();                                                                  \
        return shim_error(comm, rc);                                                   \
    }

/** One with a buffer for either way. */
#define EXCHANGES(name, type, argument, is_in_order, carry)                            \
    int shim_##name(const void *sendbuf, int sendcount, MPI_Datatype sendtype,         \
                    int dest, int sendtag, void *recvbuf, int recvcount,               \
                    MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,     \
                    type *argument)                                                    \
    {                                                                                  \
        const struct shim_call out = {SHIM_SEND, sendbuf, sendcount, sendtype,         \
                                      dest,      sendtag, comm};                       \
        const struct shim_call in = {SHIM_RECEIVE, recvbuf, recvcount, recvtype,       \
                                     source,       recvtag, comm};                     \
                                                                                       \
        EXCHANGE(name, argument, is_in_order, carry, sendbuf, sendcount, sendtype,     \
                 dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm,   \
                 argument)                                                             \
    }

/** One that receives into the buffer that it sends. */
#define EXCHANGES_IN_PLACE(name, type, argument, is_in_order, carry)                   \
    int shim_##name(void *buf, int count, MPI_Datatype datatype, int dest,             \
                    int sendtag, int source, int recvtag, MPI_Comm comm,               \
                    type *argument)                                                    \
    {                                                                                  \
        const struct shim_call out = {SHIM_SEND_OF_COPY, buf, count, datatype, dest,   \
                                      sendtag,           comm};                        \
        const struct shim_call in = {SHIM_RECEIVE, buf,     count, datatype,           \
                                     source,       recvtag, comm};                     \
                                                                                       \
        EXCHANGE(name, argument, is_in_order, carry, buf, count, datatype, dest,       \
                 sendtag, source, recvtag, comm, argument)                             \
    }

EXCHANGES(Sendrecv, MPI_Status, status, true, exchange)
EXCHANGES_IN_PLACE(Sendrecv_replace, MPI_Status, status, true, exchange_both)
EXCHANGES(Isendrecv, MPI_Request, request, request != NULL, start_both)
EXCHANGES_IN_PLACE(Isendrecv_replace, MPI_Request, request, request != NULL, start_both)
