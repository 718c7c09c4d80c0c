/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Entry points that probe, and those that receive what a matched probe has taken. A
 * message handle of ours is a request in the arena that is not the program's yet: it
 * has not been started. Runs in the application's threads.
 */
#include "mpi_shim/calls/mpi_calls.h"
#include "mpi_shim/comm/comm_record.h"
#include "mpi_shim/comm/comm_table.h"
#include "mpi_shim/real/fault.h"
#include "mpi_shim/real/handles.h"
#include "mpi_shim/real/pass.h"
#include "mpi_shim/real/real.h"
#include "mpi_shim/request/request.h"
#include "mpi_shim/request/request_status.h"

static bool is_valid(const struct shim_comm *comm, int source, int tag)
{
    return (tag >= 0 || tag == MPI_ANY_TAG) &&
           ((uint32_t)source < (uint32_t)comm->group.size || source == MPI_ANY_SOURCE ||
            source == MPI_PROC_NULL);
}

/** The real library has judged a probe. @return an error code */
static __attribute__((noinline)) int refuse(const struct shim_hush *hush,
                                            const struct shim_comm *comm, int source,
                                            int tag, int rc)
{
    const struct shim_fault fault = {
        .rank = source, .n_ranks = comm->group.size, .tag = tag, .block = -1};

    return shim_fault_raise(hush, comm->handle, &fault, MPI_SUCCESS, rc);
}

/** How to probe. */
struct how {
    bool is_waiting; /* until there is a message */
    bool is_taking;  /* take the message out of matching */
};

/** What a probe has found. */
struct found {
    bool is_found;
    uint32_t item;
};

/** Probe; all arguments are valid. @return an MPI error class */
static int probe(struct shim_comm *comm, int source, int tag, const struct how *how,
                 MPI_Status *status, struct found *found_out)
{
    const struct bcs_message message = {
        .group = &comm->group,
        .peer = source,
        .tag = tag,
    };
    struct bcs_result result;
    int rc;

    if (source == MPI_PROC_NULL) {
        shim_status_set_proc_null(status);
        *found_out = (struct found){.is_found = true};
        return MPI_SUCCESS;
    }
    if (how->is_waiting) {
        shim_record_target(comm, source, tag);
    }
    if (how->is_taking) {
        rc = bcs_mprobe(shim_context(), &message, how->is_waiting, &result,
                        &found_out->item);
    } else {
        rc = bcs_api_probe(shim_context(), &message, how->is_waiting, &result);
    }
    if (rc < 0) {
        return MPI_ERR_NO_MEM;
    }
    found_out->is_found = rc == 0;
    if (rc == 0) {
        shim_status_set(status, result.source, result.tag, result.n_bytes, false);
    }
    return MPI_SUCCESS;
}

int shim_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    static const struct how how = {.is_waiting = true};
    struct shim_comm *ours;
    struct found found;
    int rc;

    shim_enter();
    ours = shim_comm_find(comm);
    if (ours == NULL || !is_valid(ours, source, tag)) {
        struct shim_hush hush;

        shim_leave();
        if (ours == NULL) {
            return shim_pass_Probe(source, tag, comm, status);
        }
        hush = shim_hush_begin(comm);
        rc = shim_real.Probe(source, tag, comm, status);
        return shim_keep_frame(refuse(&hush, ours, source, tag, rc));
    }
    rc = probe(ours, source, tag, &how, status, &found);
    shim_leave();
    return shim_error(comm, rc);
}

int shim_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    static const struct how how = {.is_waiting = false};
    struct shim_comm *ours;
    struct found found = {0};
    int rc;

    shim_enter();
    ours = shim_comm_find(comm);
    if (ours == NULL || !is_valid(ours, source, tag)) {
        struct shim_hush hush;

        shim_leave();
        if (ours == NULL) {
            return shim_pass_Iprobe(source, tag, comm, flag, status);
        }
        hush = shim_hush_begin(comm);
        rc = shim_real.Iprobe(source, tag, comm, flag, status);
        return shim_keep_frame(refuse(&hush, ours, source, tag, rc));
    }
    if (flag == NULL) {
        shim_leave();
        return shim_error(comm, MPI_ERR_ARG);
    }
    rc = probe(ours, source, tag, &how, status, &found);
    *flag = found.is_found;
    shim_leave();
    return shim_error(comm, rc);
}

/** Probe and take; *message_out stays as it is if there is none. */
static int take(struct shim_comm *comm, int source, int tag, bool is_waiting,
                MPI_Message *message_out, MPI_Status *status, int *flag_out)
{
    const struct how how = {.is_waiting = is_waiting, .is_taking = true};
    struct shim_request *message = shim_request_new();
    struct found found = {0};
    int rc;

    if (message == NULL) {
        return MPI_ERR_NO_MEM;
    }
    rc = probe(comm, source, tag, &how, status, &found);
    *flag_out = found.is_found;
    if (rc != MPI_SUCCESS || !found.is_found || source == MPI_PROC_NULL) {
        shim_request_delete(message);
        if (found.is_found) {
            *message_out = shim_handles.message_no_proc;
        }
        return rc;
    }
    message->kind = SHIM_RECEIVE_MESSAGE;
    message->message_item = found.item;
    message->comm = comm;
    comm->n_users++;
    *message_out = (MPI_Message)(void *)message;
    return MPI_SUCCESS;
}

int shim_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message,
                MPI_Status *status)
{
    struct shim_comm *ours;
    int rc, flag;

    shim_enter();
    ours = shim_comm_find(comm);
    if (ours == NULL || message == NULL || !is_valid(ours, source, tag)) {
        struct shim_hush hush;

        shim_leave();
        if (ours == NULL) {
            return shim_pass_Mprobe(source, tag, comm, message, status);
        }
        hush = shim_hush_begin(comm);
        rc = shim_real.Mprobe(source, tag, comm, message, status);
        return shim_keep_frame(refuse(&hush, ours, source, tag, rc));
    }
    rc = take(ours, source, tag, true, message, status, &flag);
    shim_leave();
    return shim_error(comm, rc);
}

int shim_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                 MPI_Status *status)
{
    struct shim_comm *ours;
    int rc;

    shim_enter();
    ours = shim_comm_find(comm);
    if (ours == NULL || message == NULL || !is_valid(ours, source, tag)) {
        struct shim_hush hush;

        shim_leave();
        if (ours == NULL) {
            return shim_pass_Improbe(source, tag, comm, flag, message, status);
        }
        hush = shim_hush_begin(comm);
        rc = shim_real.Improbe(source, tag, comm, flag, message, status);
        return shim_keep_frame(refuse(&hush, ours, source, tag, rc));
    }
    if (flag == NULL) {
        shim_leave();
        return shim_error(comm, MPI_ERR_ARG);
    }
    rc = take(ours, source, tag, false, message, status, flag);
    shim_leave();
    return shim_error(comm, rc);
}

static struct shim_request *message_find(const MPI_Message *message)
{
    return message == NULL ? NULL : shim_request_find((MPI_Request)(void *)*message);
}

/** Whether a message is there to be received, and has not been yet. */
static bool is_waiting(const struct shim_request *message)
{
    return message->kind == SHIM_RECEIVE_MESSAGE && message->comm != NULL &&
           !message->is_active;
}

/** Whether a handle is of no message at all, and does not have to be asked about. */
static bool is_nothing(const MPI_Message *message)
{
    return message == NULL || *message == NULL || *message == shim_handles.message_null;
}

static int class_of_data(const void *buf, int count, const struct shim_datatype *type)
{
    return type == NULL                            ? MPI_ERR_TYPE
           : count < 0                             ? MPI_ERR_COUNT
           : !shim_datatype_fits(type, buf, count) ? MPI_ERR_BUFFER
                                                   : MPI_SUCCESS;
}

/** Start to receive a message of ours. @return an MPI error class */
static int receive(void *buf, int count, MPI_Datatype datatype, MPI_Message *message,
                   MPI_Request *request_out)
{
    struct shim_request *request = message_find(message);
    const struct shim_datatype *type = shim_datatype_find(datatype);
    int rc = class_of_data(buf, count, type);

    if (rc != MPI_SUCCESS) {
        return rc;
    }
    request->buffer = buf;
    request->count = count;
    request->type = type;
    rc = shim_request_start(request);
    if (rc == MPI_SUCCESS) {
        request->error_comm = request->comm->handle;
        *message = shim_handles.message_null;
        *request_out = shim_request_handle(request);
    }
    return rc;
}

int shim_Imrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message,
                MPI_Request *request)
{
    struct shim_request *ours = message_find(message);
    MPI_Comm comm;
    int rc;

    if (ours == NULL && !is_nothing(message)) {
        return shim_pass_Imrecv(buf, count, datatype, message, request);
    }
    if (ours == NULL || !is_waiting(ours)) {
        return shim_error(NULL, MPI_ERR_REQUEST);
    }
    comm = ours->comm->handle;
    if (request == NULL) {
        return shim_error(comm, MPI_ERR_REQUEST);
    }
    shim_enter();
    rc = receive(buf, count, datatype, message, request);
    shim_leave();
    return shim_error(comm, rc);
}

int shim_Mrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message,
               MPI_Status *status)
{
    struct shim_request *ours = message_find(message);
    MPI_Request request;
    MPI_Comm comm;
    int rc;

    if (ours == NULL && !is_nothing(message)) {
        return shim_pass_Mrecv(buf, count, datatype, message, status);
    }
    if (ours == NULL || !is_waiting(ours)) {
        return shim_error(NULL, MPI_ERR_REQUEST);
    }
    comm = ours->comm->handle;
    shim_enter();
    rc = receive(buf, count, datatype, message, &request);
    if (rc == MPI_SUCCESS) {
        bcs_api_test(shim_context(), &ours->base, true);
        rc = shim_request_finish(&request, status);
    }
    shim_leave();
    return shim_error(comm, rc);
}

MPI_Fint shim_Message_c2f(MPI_Message message)
{
    struct shim_request *ours = message_find(&message);

    return ours == NULL ? shim_real.Message_c2f(message) : ours->fortran_handle;
}

MPI_Message shim_Message_f2c(MPI_Fint message)
{
    if (message < SHIM_FORTRAN_BASE) {
        return shim_real.Message_f2c(message);
    }
    return (MPI_Message)(void *)shim_request_of_fortran(message);
}
