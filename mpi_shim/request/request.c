/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Life of a request: description, start, completion, end. Called by the entry points in
 * the application's threads, after shim_enter.
 */
#include "mpi_shim/request/request.h"

#include <stdlib.h>
#include <string.h>

#include "libbcs/api/message/misuse.h"
#include "libbcs/api/message/wait.h"
#include "libbcs/api/record/stand_tell.h"
#include "libbcs/fabric/base/notice.h"
#include "mpi_shim/collective/exchange_forms.h"
#include "mpi_shim/comm/comm_table.h"
#include "mpi_shim/comm/numbers.h"
#include "mpi_shim/real/error.h"
#include "mpi_shim/request/bsend_space.h"

/** Give back what one activation of a request took. */
static void drop_buffers(struct shim_request *request)
{
    if (request->holds_type) {
        shim_datatype_release(request->type);
        request->holds_type = false;
    }
    if (request->copy != NULL) {
        free(request->copy);
        request->copy = NULL;
    }
    if (request->is_buffered) {
        shim_bsend_release(&shim_state.arena->space,
                           bcs_request_state(&request->base)->n_bytes);
        request->is_buffered = false;
    }
}

void shim_request_delete(struct shim_request *request)
{
    if (request->partner != NULL) {
        shim_request_delete(request->partner);
    }
    drop_buffers(request);
    if (request->is_persistent && request->kind == SHIM_EXCHANGE) {
        shim_number_give_back(request->comm, request->number);
    }
    shim_exchange_free(request->exchange);
    if (request->is_persistent && request->type != NULL) {
        shim_datatype_release(request->type);
    }
    if ((request->is_persistent || request->holds_comm ||
         request->kind >= SHIM_RECEIVE_MESSAGE) &&
        request->comm != NULL) {
        shim_comm_release(request->comm);
    }
    request->holds_comm = false;
    request->error_comm = NULL;
    request->comm = NULL;
    shim_request_rest(request);
}

static bool is_send(enum shim_kind kind)
{
    return kind <= SHIM_SEND_BUFFERED;
}

/** Let the API use a copy of the data, without gaps. @return whether there is memory */
static bool prepare_copy(struct shim_request *request, struct bcs_message *message)
{
    request->copy = malloc(message->n_bytes);
    if (request->copy == NULL) {
        bcs_notice(BCS_NOTICE_COPY_MEMORY,
                   "no memory for a copy of %zu bytes of a message with gaps",
                   message->n_bytes);
        return false;
    }
    if (is_send(request->kind)) {
        shim_pack(request->buffer, (size_t)request->count, request->type,
                  request->copy);
    }
    message->data = request->copy;
    return true;
}

/** Describe data with gaps to the API: by their layout, or as a copy. */
static void prepare_gaps(struct shim_request *request, struct bcs_message *message)
{
    shim_datatype_hold(request->type); /* the program may free it meanwhile */
    request->holds_type = true;
    if (!bcs_wants_copy(shim_context(), message->n_bytes) ||
        !prepare_copy(request, message)) {
        bcs_message_lay_out(message, request->type->layout);
    }
}

/** Describe the data to the API; with must_copy, those of a copy that is made here. */
static int prepare_data(struct shim_request *request, struct bcs_message *message,
                        bool must_copy)
{
    message->n_bytes = (size_t)request->count * request->type->size;
    message->data = (void *)(uintptr_t)request->buffer;
    if ((request->type->is_dense && !must_copy) || message->n_bytes == 0) {
        return MPI_SUCCESS;
    }
    if (must_copy) {
        if (!is_send(request->kind)) { /* it is needed at the end */
            shim_datatype_hold(request->type);
            request->holds_type = true;
        }
        return prepare_copy(request, message) ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    }
    prepare_gaps(request, message);
    return MPI_SUCCESS;
}

static int post(struct shim_request *request, bool must_copy)
{
    static const enum bcs_send_mode modes[] = {
        [SHIM_SEND] = BCS_SEND_STANDARD,
        [SHIM_SEND_OF_COPY] = BCS_SEND_STANDARD,
        [SHIM_SEND_SYNCHRONOUS] = BCS_SEND_SYNCHRONOUS,
        [SHIM_SEND_BUFFERED] = BCS_SEND_BUFFERED,
    };
    struct bcs_message message = {
        .group = &request->comm->group,
        .peer = request->peer,
        .tag = request->tag,
    };
    int rc = prepare_data(request, &message, must_copy);

    if (rc == MPI_SUCCESS) {
        switch (request->kind) {
        case SHIM_RECEIVE:
            rc = bcs_api_recv(shim_context(), &message, NULL, &request->base);
            break;
        case SHIM_RECEIVE_MESSAGE:
            rc = bcs_imrecv(shim_context(), &message, request->message_item,
                            &request->base);
            break;
        default:
            rc = bcs_api_send(shim_context(), &message, modes[request->kind],
                              &request->base);
            break;
        }
        rc = rc < 0 ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    }
    if (rc != MPI_SUCCESS || (bcs_is_done(&request->base) && is_send(request->kind))) {
        drop_buffers(request);
    }
    return rc;
}

/** Take space of the attached buffer; sends that are over give theirs back if need be.
 *  @return whether there was enough */
static bool reserve_space(size_t n_bytes)
{
    struct shim_bsend_space *space = &shim_state.arena->space;

    if (shim_bsend_reserve(space, n_bytes)) {
        return true;
    }
    shim_request_reap();
    return shim_bsend_reserve(space, n_bytes);
}

/** A number for a buffered send that is under way, and the request that it is known
 *  by. */
static uint32_t number_carrier(void)
{
    uint32_t *n = &shim_state.arena->n_carriers;

    *n = *n == UINT32_MAX ? 1 : *n + 1;
    return *n;
}

/** Start a buffered send: its data go on their own way, and the request is done. */
static int start_buffered(struct shim_request *request)
{
    size_t n_bytes = (size_t)request->count * request->type->size;
    struct shim_request *carrier = shim_request_new();
    int rc;

    if (carrier == NULL) {
        return MPI_ERR_NO_MEM;
    }
    if (!reserve_space(n_bytes)) {
        shim_request_delete(carrier);
        return MPI_ERR_BUFFER;
    }
    carrier->kind = SHIM_SEND_BUFFERED;
    carrier->buffer = request->buffer;
    carrier->count = request->count;
    carrier->type = request->type;
    carrier->comm = request->comm;
    carrier->peer = request->peer;
    carrier->tag = request->tag;
    carrier->is_active = true;
    carrier->is_buffered = true;
    bcs_request_state(&carrier->base)->n_bytes = n_bytes;
    rc = post(carrier, true);
    bcs_request_state(&request->base)->cell = bcs_request_state(&carrier->base)->cell;
    bcs_request_state(&request->base)->n_bytes = n_bytes;
    request->number = 0;
    if (rc == MPI_SUCCESS && !bcs_is_done(&carrier->base)) {
        request->number = carrier->number = number_carrier();
        shim_request_free(carrier);
    } else {
        shim_request_delete(carrier);
    }
    return rc;
}

static int start_exchange(struct shim_request *request)
{
    struct shim_exchange *exchange = request->exchange;
    int status;

    if (shim_state.buffers != NULL) {
        shim_exchange_forget_buffers(exchange); /* what it opens is to be told apart */
    }
    request->comm->whole->persistent = request->is_persistent ? request->number + 1 : 0;
    status = shim_exchange_start(exchange, request->comm, &request->base);
    request->comm->whole->persistent = 0;
    if (status < 0) {
        shim_exchange_close(exchange, status);
        bcs_request_state(&request->base)->is_pending = false;
        return shim_class_of_status(status);
    }
    if (request->is_persistent) {
        return MPI_SUCCESS;
    }
    if (shim_exchange_is_open(exchange) || shim_state.buffers != NULL) {
        shim_exchange_hold(exchange);
    } else {
        shim_exchange_free(exchange);
        request->exchange = NULL;
    }
    return MPI_SUCCESS;
}

/** A message of the program's is sent, or room is made for one. */
static inline void record_start(struct shim_request *request)
{
    uint64_t n_bytes;

    if (__builtin_expect(shim_state.collect == NULL, 1) || request->is_proc_null) {
        return;
    }
    n_bytes = (uint64_t)request->count * request->type->size;
    if (is_send(request->kind)) {
        shim_record_sent(request->comm, request->peer, request->tag, n_bytes);
    } else {
        shim_record_size(n_bytes);
    }
    if (request->kind < SHIM_RECEIVE_MESSAGE && !request->is_persistent) {
        request->comm->n_users++; /* the program may free it before */
        request->holds_comm = true;
    }
}

/** Whether a receive must leave its buffer alone until it is over, as that is
 *  watched. */
static bool is_apart(const struct shim_request *request)
{
    return shim_state.buffers != NULL && !is_send(request->kind);
}

static int start_message(struct shim_request *request)
{
    int rc = MPI_SUCCESS;

    bcs_request_state(&request->base)->is_send = is_send(request->kind);
    request->base.result.error = 0;
    record_start(request);
    if (request->is_proc_null) {
        bcs_request_state(&request->base)->is_pending = false;
    } else if (request->kind == SHIM_SEND_BUFFERED) {
        rc = start_buffered(request);
        bcs_request_state(&request->base)->is_pending = false;
    } else {
        rc = post(request, request->kind == SHIM_SEND_OF_COPY || is_apart(request));
    }
    return rc;
}

int shim_request_start(struct shim_request *request)
{
    int rc;

    request->is_active = true;
    rc = request->kind == SHIM_EXCHANGE ? start_exchange(request)
                                        : start_message(request);
    request->is_active = rc == MPI_SUCCESS;
    return rc;
}

void shim_request_status(const struct shim_request *request, MPI_Status *status)
{
    const struct bcs_result *result = &request->base.result;

    if (!request->is_active) {
        shim_status_set_empty(status);
    } else if (request->is_proc_null && !bcs_request_state(&request->base)->is_send) {
        shim_status_set_proc_null(status);
    } else if (bcs_request_state(&request->base)->is_send) {
        shim_status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0,
                        result->error == BCS_E_CANCELLED);
    } else {
        shim_status_set(status, result->source, result->tag, result->n_bytes,
                        result->error == BCS_E_CANCELLED);
    }
}

int shim_truncated(const struct shim_comm *comm, const struct bcs_result *result)
{
    bcs_misuse_truncation(shim_context(), comm == NULL ? NULL : &comm->group, result);
    return MPI_ERR_TRUNCATE;
}

int shim_request_truncated(const struct shim_request *request)
{
    /* The program may have freed the communicator. */
    const struct shim_comm *comm =
        request->error_comm == NULL ? NULL : shim_comm_find(request->error_comm);

    return shim_truncated(comm == request->comm ? comm : NULL, &request->base.result);
}

/** The error class of a receive that is over. */
static inline int class_of_receive(const struct shim_request *request)
{
    return __builtin_expect(request->base.result.error == BCS_E_TRUNCATED, 0)
               ? shim_request_truncated(request)
               : MPI_SUCCESS;
}

/** Take what a receive has got out of its copy. Apart: it would slow the others
 *  down. */
static __attribute__((noinline)) int settle_copy(struct shim_request *request)
{
    shim_unpack(request->copy, request->base.result.n_bytes,
                (void *)(uintptr_t)request->buffer, request->type);
    free(request->copy);
    request->copy = NULL;
    return class_of_receive(request);
}

int shim_request_settle(struct shim_request *request)
{
    const struct bcs_result *result = &request->base.result;
    bool is_receive =
        !bcs_request_state(&request->base)->is_send && !request->is_proc_null;

    if (__builtin_expect(shim_state.buffers != NULL, 0)) {
        shim_state.buffers->check(request);
    }
    if (request->is_active && request->kind == SHIM_EXCHANGE) {
        return shim_class_of_status(
            request->exchange == NULL
                ? result->error
                : shim_exchange_close(request->exchange, result->error));
    }
    if (!request->is_active || !is_receive) {
        return MPI_SUCCESS;
    }
    if (request->copy != NULL) {
        return settle_copy(request);
    }
    return class_of_receive(request);
}

/** A request is over: if it has received a message, that was one of the program's; if
 *  it was a collective, the call under way has waited for it. */
static inline void record_end(const struct shim_request *request)
{
    const struct bcs_result *result = &request->base.result;

    if (__builtin_expect(shim_state.collect == NULL, 1) || !request->is_active) {
        return;
    }
    if (request->kind == SHIM_EXCHANGE) {
        bcs_note_collective(shim_context(), &request->base);
        return;
    }
    if (is_send(request->kind) || request->is_proc_null ||
        result->error == BCS_E_CANCELLED) {
        return;
    }
    shim_record_received(request->comm, result->source, result->tag, result->n_bytes);
}

int shim_request_finish(MPI_Request *handle, MPI_Status *status)
{
    struct shim_request *request = shim_request_find(*handle);
    int rc;

    if (request->is_plain) {
        return shim_request_finish_plain(request, handle, status);
    }
    rc = shim_request_settle(request);
    record_end(request);
    shim_request_status(request, status);
    if (request->is_persistent) {
        drop_buffers(request);
        request->is_active = false;
        bcs_request_state(&request->base)->is_pending = false;
    } else {
        shim_request_delete(request);
        *handle = shim_handles.request_null;
    }
    return rc;
}

void shim_request_free(struct shim_request *request)
{
    if (!request->is_active) {
        shim_request_delete(request);
        return;
    }
    request->error_comm = NULL;     /* nobody can ask any more */
    if (request->partner != NULL) { /* both go their own ways */
        shim_request_free(request->partner);
        request->partner = NULL;
    }
    request->next = shim_state.arena->orphans;
    shim_state.arena->orphans = request;
    shim_at_leave(shim_request_reap);
}

void shim_request_reap(void)
{
    struct shim_request **link = &shim_state.arena->orphans;

    while (*link != NULL) {
        struct shim_request *request = *link;
        if (shim_request_look(request)) {
            *link = request->next;
            shim_request_settle(request);
            record_end(request);
            shim_request_delete(request);
        } else {
            link = &request->next;
        }
    }
    if (shim_state.arena->orphans == NULL) {
        shim_at_leave(NULL);
    }
}

static bool has_orphan_send(void)
{
    const struct shim_request *request = shim_state.arena->orphans;

    while (request != NULL && !bcs_request_state(&request->base)->is_send) {
        request = request->next;
    }
    return request != NULL;
}

/** It waits for all sends without a handle. */
static void tell_drain(struct bcs_waiter *waiter)
{
    const struct shim_request *request = shim_state.arena->orphans;

    bcs_stand_begin(shim_context(), true);
    for (; request != NULL; request = request->next) {
        if (bcs_request_state(&request->base)->is_send) {
            bcs_stand_add_request(shim_context(), &request->base);
        }
    }
    bcs_stand_publish(shim_context(), waiter);
}

void shim_request_drain(void)
{
    struct bcs_waiter waiter = {0};

    for (shim_request_reap(); has_orphan_send(); shim_request_reap()) {
        if (bcs_wait_turn(shim_context(), &waiter)) {
            tell_drain(&waiter);
        }
    }
    bcs_wait_stop(shim_context(), &waiter);
}
