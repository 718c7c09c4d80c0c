/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Entry points that look at one request without completing it, free, cancel and start
 * requests, and convert handles. Runs in the application's threads.
 */
#include "libbcs/api/message/wait.h"
#include "mpi_shim/calls/mpi_calls.h"
#include "mpi_shim/calls/wait_calls.h"
#include "mpi_shim/real/error.h"
#include "mpi_shim/real/handles.h"
#include "mpi_shim/real/pass.h"
#include "mpi_shim/real/real.h"
#include "mpi_shim/request/buffers.h"
#include "mpi_shim/request/request.h"
#include "mpi_shim/request/request_cancel.h"
#include "mpi_shim/request/request_status.h"

int shim_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    struct shim_request *ours = shim_request_find(request);

    if (ours == NULL || flag == NULL) {
        return shim_real.Request_get_status(request, flag, status);
    }
    if (!shim_request_is_live(ours)) {
        return shim_error(NULL, MPI_ERR_REQUEST);
    }
    shim_enter();
    *flag = shim_request_look(ours);
    if (!*flag) {
        *flag = shim_request_progress() && shim_request_look(ours);
    }
    if (*flag) {
        shim_request_settle(ours);
        shim_request_status(ours, status);
    } else {
        bcs_wait_in_vain(shim_context());
    }
    shim_leave();
    return MPI_SUCCESS;
}

/** Whether a request is one of a collective that is under way: it cannot be let go of
 *  nor be cancelled. If it is over, its data are where they belong. */
static bool is_pending_collective(struct shim_request *request)
{
    if (request->kind != SHIM_EXCHANGE || !request->is_active) {
        return false;
    }
    if (!shim_request_look(request)) {
        return true;
    }
    shim_request_settle(request);
    return false;
}

int shim_Request_free(MPI_Request *request)
{
    struct shim_request *ours = request == NULL ? NULL : shim_request_find(*request);

    if (ours == NULL) {
        return shim_real.Request_free(request);
    }
    shim_enter();
    if (!shim_request_is_live(ours) || is_pending_collective(ours)) {
        shim_leave();
        return shim_error(NULL, MPI_ERR_REQUEST);
    }
    if (shim_state.buffers != NULL) {
        shim_buffers_forget(ours);
    }
    shim_request_free(ours);
    *request = shim_handles.request_null;
    shim_leave();
    return MPI_SUCCESS;
}

int shim_Cancel(MPI_Request *request)
{
    struct shim_request *ours = request == NULL ? NULL : shim_request_find(*request);

    if (ours == NULL) {
        return shim_real.Cancel(request);
    }
    if (!shim_request_is_live(ours) || ours->kind == SHIM_EXCHANGE) {
        return shim_error(NULL, MPI_ERR_REQUEST);
    }
    shim_enter();
    shim_request_cancel(ours);
    shim_leave();
    return MPI_SUCCESS;
}

static bool may_start(const struct shim_request *request)
{
    return shim_request_is_live(request) && request->is_persistent &&
           !request->is_active;
}

int shim_Start(MPI_Request *request)
{
    struct shim_request *ours = request == NULL ? NULL : shim_request_find(*request);
    int rc;

    if (ours == NULL && request != NULL && *request != NULL &&
        *request != shim_handles.request_null) {
        return shim_pass_Start(request);
    }
    if (ours == NULL || !may_start(ours)) {
        return shim_error(NULL, MPI_ERR_REQUEST);
    }
    shim_enter();
    rc = shim_request_start(ours);
    if (__builtin_expect(shim_state.buffers != NULL, 0) && rc == MPI_SUCCESS) {
        shim_buffers_post(ours);
    }
    shim_leave();
    return shim_error(ours->error_comm, rc);
}

static bool has_ours(int count, const MPI_Request requests[])
{
    for (int i = 0; requests != NULL && i < count; i++) {
        if (shim_request_find(requests[i]) != NULL) {
            return true;
        }
    }
    return false;
}

/** Whether all of a list may be started, as far as we know. */
static bool may_start_all(int count, const MPI_Request requests[])
{
    for (int i = 0; i < count; i++) {
        const struct shim_request *ours = shim_request_find(requests[i]);

        if (ours != NULL ? !may_start(ours) : requests[i] == NULL) {
            return false;
        }
    }
    return true;
}

int shim_Startall(int count, MPI_Request requests[])
{
    int rc = MPI_SUCCESS;

    if (!has_ours(count, requests)) {
        return shim_pass_Startall(count, requests);
    }
    if (!may_start_all(count, requests)) {
        return shim_error(NULL, MPI_ERR_REQUEST);
    }
    for (int i = 0; i < count && rc == MPI_SUCCESS; i++) {
        rc = shim_Start(&requests[i]);
    }
    return rc;
}

MPI_Fint shim_Request_c2f(MPI_Request request)
{
    const struct shim_request *ours = shim_request_find(request);

    return ours == NULL ? shim_real.Request_c2f(request) : ours->fortran_handle;
}

MPI_Request shim_Request_f2c(MPI_Fint request)
{
    if (request < SHIM_FORTRAN_BASE) {
        return shim_real.Request_f2c(request);
    }
    return shim_request_handle(shim_request_of_fortran(request));
}
