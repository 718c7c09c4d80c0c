/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Entry points that wait for requests or test them. An array of requests may mix ours, the
 * real library's (of calls that were passed) and null handles. Runs in the application's
 * threads.
 *
 * The real library's requests in a mixed array are completed by its own MPI_Test, and
 * looked at without being completed by MPI_Request_get_status.
 */
#include "libbcs/api/post.h"
#include "mpi_shim/comm_idup.h"
#include "mpi_shim/error.h"
#include "mpi_shim/fallback.h"
#include "mpi_shim/handles.h"
#include "mpi_shim/request.h"
#include "mpi_shim/status.h"
#include "mpi_shim/symbols.h"

/** How many of a list's requests are whose. */
struct census {
    int n_ours;    /* active or not */
    int n_foreign; /* not null */
};

static struct census count_requests(int count, const MPI_Request requests[])
{
    struct census census = {0, 0};

    for (int i = 0; i < count; i++) {
        if (shim_request_find(requests[i]) != NULL) {
            census.n_ours++;
        } else if (requests[i] != shim_handles.request_null) {
            census.n_foreign++;
        }
    }
    return census;
}

/** Whether a call on a list is for the real library: nothing of ours, or bad arguments,
 *  about which it knows what to say. If not, waiter, unless it is NULL, is prepared: nobody
 *  wakes it for the real library's requests. */
static bool is_for_real(int count, const MPI_Request requests[],
                        struct nic_waiter *waiter)
{
    struct census census;

    if (count < 0 || (count > 0 && requests == NULL)) {
        return true;
    }
    census = count_requests(count, requests);
    if (waiter != NULL) {
        waiter->has_short_naps = census.n_foreign > 0;
    }
    return census.n_ours == 0;
}

/** Whether a handle counts for MPI_Waitany and the like: null and inactive ones do not. */
static bool is_active(MPI_Request handle)
{
    const struct shim_request *request = shim_request_find(handle);

    return request != NULL ? request->is_active : handle != shim_handles.request_null;
}

/** Look whether an active request is over, and leave it as it is. */
static bool is_over(MPI_Request handle)
{
    struct shim_request *request = shim_request_find(handle);
    int flag = 0;

    if (request != NULL) {
        return shim_request_look(request);
    }
    shim_real.Request_get_status(handle, &flag, MPI_STATUS_IGNORE);
    return flag != 0;
}

/** Complete a request that is over. @return an MPI error class */
static int complete(MPI_Request *handle, MPI_Status *status)
{
    int flag;

    if (shim_request_find(*handle) != NULL) {
        return shim_request_finish(handle, status);
    }
    return shim_real.Test(handle, &flag, status);
}

/** The communicator whose error handler is called for a request. */
static MPI_Comm comm_of(MPI_Request handle)
{
    const struct shim_request *request = shim_request_find(handle);

    return request == NULL ? shim_handles.comm_null : request->error_comm;
}

static int raise(MPI_Comm comm, int rc)
{
    return rc == MPI_SUCCESS ? rc : shim_error(comm, rc);
}

int shim_Wait(MPI_Request *request, MPI_Status *status)
{
    struct shim_request *ours = request == NULL ? NULL : shim_request_find(*request);
    MPI_Comm comm;
    int rc;

    if (ours == NULL) {
        return request != NULL && *request == shim_handles.request_null
                   ? shim_real.Wait(request, status)
                   : shim_pass_Wait(request, status);
    }
    comm = ours->error_comm;
    shim_enter();
    shim_request_wait(ours);
    rc = shim_request_finish(request, status);
    shim_leave();
    return raise(comm, rc);
}

void shim_request_progress(void)
{
    bcs_progress(shim_context());
    if (shim_idups != NULL) {
        shim_idups_move();
    }
}

int shim_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct shim_request *ours = request == NULL ? NULL : shim_request_find(*request);
    MPI_Comm comm;
    int rc = MPI_SUCCESS;

    if (ours == NULL || flag == NULL) {
        return shim_real.Test(request, flag, status);
    }
    comm = ours->error_comm;
    shim_enter();
    *flag = shim_request_look(ours);
    if (!*flag) {
        shim_request_progress();
        *flag = shim_request_look(ours);
    }
    if (*flag) {
        rc = shim_request_finish(request, status);
    }
    shim_leave();
    return raise(comm, rc);
}

/** Requests that are looked at between two turns of a wait, unless it will sleep then. */
enum { LOOKS_A_TURN = 16 };

/** How far a wait has come with a list. Starts with zeros. */
struct scan {
    int first; /* all before are over */
    int next;  /* to be looked at next; wraps around to first */
};

/** Go on with those requests of a list that can: those that are over in front, the first
 *  that is not, and n_looks of the others. @return whether all active ones are over */
static bool go_on(int count, const MPI_Request requests[], int n_looks,
                  struct scan *scan)
{
    int n_others;

    while (scan->first < count &&
           (!is_active(requests[scan->first]) || is_over(requests[scan->first]))) {
        scan->first++;
    }
    n_others = count - scan->first - 1;
    for (int n = n_others < n_looks ? n_others : n_looks; n > 0; n--) {
        if (scan->next <= scan->first || scan->next >= count) {
            scan->next = scan->first + 1;
        }
        if (is_active(requests[scan->next])) {
            is_over(requests[scan->next]);
        }
        scan->next++;
    }
    return scan->first >= count;
}

/** Whether all active requests of a list are over; goes on with each that can. */
static bool are_all_over(int count, const MPI_Request requests[])
{
    return go_on(count, requests, count, &(struct scan){0});
}

/** The first error of a list: the error handler gets its class, the caller of the MPI
 *  function MPI_ERR_IN_STATUS. */
struct failure {
    MPI_Comm comm;
    int error_class;
};

static int raise_failure(const struct failure *failure)
{
    if (failure->error_class == MPI_SUCCESS) {
        return MPI_SUCCESS;
    }
    shim_error(failure->comm, failure->error_class);
    return MPI_ERR_IN_STATUS;
}

/** Complete all requests of a list, which are over. */
static void complete_all(int count, MPI_Request requests[], MPI_Status statuses[],
                         struct failure *failure)
{
    for (int i = 0; i < count; i++) {
        MPI_Status *status = shim_status_at(statuses, i);
        MPI_Comm comm = comm_of(requests[i]);
        int rc = MPI_SUCCESS;

        if (is_active(requests[i])) {
            rc = complete(&requests[i], status);
        } else {
            shim_status_set_empty(status);
        }
        if (rc != MPI_SUCCESS && failure->error_class == MPI_SUCCESS) {
            *failure = (struct failure){comm, rc};
        }
        shim_status_set_error(status, rc);
    }
}

int shim_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    struct nic_waiter waiter = {0};
    struct failure failure = {.error_class = MPI_SUCCESS};
    struct scan scan = {0};

    if (is_for_real(count, requests, &waiter)) {
        return shim_real.Waitall(count, requests, statuses);
    }
    shim_enter();
    while (!go_on(count, requests, waiter.is_announced ? count : LOOKS_A_TURN, &scan)) {
        bcs_wait_turn(shim_context(), &waiter);
    }
    bcs_wait_stop(shim_context(), &waiter);
    complete_all(count, requests, statuses, &failure);
    shim_leave();
    return raise_failure(&failure);
}

int shim_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    struct failure failure = {.error_class = MPI_SUCCESS};

    if (is_for_real(count, requests, NULL) || flag == NULL) {
        return shim_real.Testall(count, requests, flag, statuses);
    }
    shim_enter();
    *flag = are_all_over(count, requests);
    if (!*flag) {
        shim_request_progress();
        *flag = are_all_over(count, requests);
    }
    if (*flag) {
        complete_all(count, requests, statuses, &failure);
    }
    shim_leave();
    return raise_failure(&failure);
}

enum { NONE_ACTIVE = -1, NONE_OVER = -2 };

/** The first request of a list that is over; goes on with those before it. */
static int find_over(int count, const MPI_Request requests[])
{
    int result = NONE_ACTIVE;

    for (int i = 0; i < count; i++) {
        if (is_active(requests[i])) {
            if (is_over(requests[i])) {
                return i;
            }
            result = NONE_OVER;
        }
    }
    return result;
}

/** Complete one request of a list. @return an MPI error code */
static int complete_one(MPI_Request *request, MPI_Status *status)
{
    MPI_Comm comm = comm_of(*request);
    int rc = complete(request, status);

    shim_leave();
    rc = raise(comm, rc);
    shim_enter();
    return rc;
}

int shim_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    struct nic_waiter waiter = {0};
    int found, rc = MPI_SUCCESS;

    if (is_for_real(count, requests, &waiter) || index == NULL) {
        return shim_real.Waitany(count, requests, index, status);
    }
    shim_enter();
    while ((found = find_over(count, requests)) == NONE_OVER) {
        bcs_wait_turn(shim_context(), &waiter);
    }
    bcs_wait_stop(shim_context(), &waiter);
    *index = found == NONE_ACTIVE ? MPI_UNDEFINED : found;
    if (found == NONE_ACTIVE) {
        shim_status_set_empty(status);
    } else {
        rc = complete_one(&requests[found], status);
    }
    shim_leave();
    return rc;
}

int shim_Testany(int count, MPI_Request requests[], int *index, int *flag,
                 MPI_Status *status)
{
    int found, rc = MPI_SUCCESS;

    if (is_for_real(count, requests, NULL) || index == NULL || flag == NULL) {
        return shim_real.Testany(count, requests, index, flag, status);
    }
    shim_enter();
    found = find_over(count, requests);
    if (found == NONE_OVER) {
        shim_request_progress();
        found = find_over(count, requests);
    }
    *flag = found != NONE_OVER;
    *index = found >= 0 ? found : MPI_UNDEFINED;
    if (found >= 0) {
        rc = complete_one(&requests[found], status);
    } else if (found == NONE_ACTIVE) {
        shim_status_set_empty(status);
    }
    shim_leave();
    return rc;
}

/** Complete all requests of a list that are over. */
static void complete_some(int count, MPI_Request requests[], int *n_out, int indices[],
                          MPI_Status statuses[], struct failure *failure)
{
    int n = 0;

    for (int i = 0; i < count; i++) {
        MPI_Status *status = shim_status_at(statuses, n);
        if (is_active(requests[i]) && is_over(requests[i])) {
            MPI_Comm comm = comm_of(requests[i]);
            int rc = complete(&requests[i], status);
            if (rc != MPI_SUCCESS && failure->error_class == MPI_SUCCESS) {
                *failure = (struct failure){comm, rc};
            }
            shim_status_set_error(status, rc);
            indices[n++] = i;
        }
    }
    *n_out = n;
}

int shim_Waitsome(int incount, MPI_Request requests[], int *outcount, int indices[],
                  MPI_Status statuses[])
{
    struct nic_waiter waiter = {0};
    struct failure failure = {.error_class = MPI_SUCCESS};
    int found;

    if (is_for_real(incount, requests, &waiter) || outcount == NULL ||
        indices == NULL) {
        return shim_real.Waitsome(incount, requests, outcount, indices, statuses);
    }
    shim_enter();
    while ((found = find_over(incount, requests)) == NONE_OVER) {
        bcs_wait_turn(shim_context(), &waiter);
    }
    bcs_wait_stop(shim_context(), &waiter);
    if (found == NONE_ACTIVE) {
        *outcount = MPI_UNDEFINED;
    } else {
        complete_some(incount, requests, outcount, indices, statuses, &failure);
    }
    shim_leave();
    return raise_failure(&failure);
}

int shim_Testsome(int incount, MPI_Request requests[], int *outcount, int indices[],
                  MPI_Status statuses[])
{
    struct failure failure = {.error_class = MPI_SUCCESS};
    int found;

    if (is_for_real(incount, requests, NULL) || outcount == NULL || indices == NULL) {
        return shim_real.Testsome(incount, requests, outcount, indices, statuses);
    }
    shim_enter();
    found = find_over(incount, requests);
    if (found == NONE_OVER) {
        shim_request_progress();
    }
    if (found == NONE_ACTIVE) {
        *outcount = MPI_UNDEFINED;
    } else {
        complete_some(incount, requests, outcount, indices, statuses, &failure);
    }
    shim_leave();
    return raise_failure(&failure);
}
