/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Entry points that wait for requests or test them. An array of requests may mix ours,
 * the real library's (foreign.h) and null handles. Runs in the application's threads.
 */
#include "mpi_shim/calls/wait_calls.h"

#include "libbcs/api/message/wait.h"
#include "mpi_shim/calls/comm_idup.h"
#include "mpi_shim/calls/mpi_calls.h"
#include "mpi_shim/calls/standing.h"
#include "mpi_shim/real/error.h"
#include "mpi_shim/real/fallback.h"
#include "mpi_shim/real/handles.h"
#include "mpi_shim/real/pass.h"
#include "mpi_shim/real/real.h"
#include "mpi_shim/request/foreign.h"
#include "mpi_shim/request/request.h"

/** How many of a list's requests are whose. */
struct census {
    int n_ours;    /* active or not */
    int n_foreign; /* not null */
    bool is_wrong; /* some are none at all: nothing is done with the list */
};

/** Whether a call on a list is for the real library: nothing of ours, or bad arguments,
 *  about which it knows what to say. If not, the list has been counted. */
static bool is_for_real(int count, const MPI_Request requests[],
                        struct census *census_out)
{
    struct census census = {0};

    if (count < 0 || (count > 0 && requests == NULL)) {
        return true;
    }
    for (int i = 0; i < count; i++) {
        const struct shim_request *ours = shim_request_find(requests[i]);

        if (ours != NULL) {
            census.n_ours++;
            census.is_wrong |= !shim_request_is_live(ours);
        } else if (requests[i] != shim_handles.request_null) {
            census.n_foreign++;
            census.is_wrong |= requests[i] == NULL;
        }
    }
    *census_out = census;
    return census.n_ours == 0;
}

/** Whether a handle counts for MPI_Waitany and the like: null and inactive ones do
 *  not. */
static bool is_active(MPI_Request handle)
{
    const struct shim_request *request = shim_request_find(handle);

    return request != NULL ? request->is_active : handle != shim_handles.request_null;
}

/** The communicator whose error handler is called for a request; NULL: the real library
 *  has called it. */
static MPI_Comm comm_of(MPI_Request handle)
{
    const struct shim_request *request = shim_request_find(handle);

    return request == NULL ? NULL : request->error_comm;
}

/** Raise an error class, unless the real library has (comm is NULL). Inlined: see
 *  shim_keep_frame. */
static inline __attribute__((always_inline)) int raise(MPI_Comm comm, int rc)
{
    return comm == NULL ? rc : shim_error(comm, rc);
}

int shim_Wait(MPI_Request *request, MPI_Status *status)
{
    struct shim_request *ours = request == NULL ? NULL : shim_request_find(*request);
    MPI_Comm comm;
    int rc;

    if (ours == NULL && (request == NULL || *request != NULL)) {
        return request != NULL && *request == shim_handles.request_null
                   ? shim_real.Wait(request, status)
                   : shim_pass_Wait(request, status);
    }
    if (ours == NULL || !shim_request_is_live(ours)) {
        return shim_error(NULL, MPI_ERR_REQUEST);
    }
    comm = ours->error_comm;
    shim_enter();
    shim_request_tell(ours);
    shim_request_wait(ours);
    rc = shim_request_finish(request, status);
    shim_leave();
    return raise(comm, rc);
}

bool shim_request_progress(void)
{
    bool has_moved = bcs_progress(shim_context());

    return (shim_state.idups != NULL && shim_idups_move()) || has_moved;
}

int shim_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct shim_request *ours = request == NULL ? NULL : shim_request_find(*request);
    MPI_Comm comm;
    int rc = MPI_SUCCESS;

    if ((ours == NULL && (request == NULL || *request != NULL)) || flag == NULL) {
        return shim_real.Test(request, flag, status);
    }
    if (ours == NULL || !shim_request_is_live(ours)) {
        return shim_error(NULL, MPI_ERR_REQUEST);
    }
    comm = ours->error_comm;
    shim_enter();
    *flag = shim_request_look(ours);
    if (!*flag) {
        *flag = shim_request_progress() && shim_request_look(ours);
    }
    if (*flag) {
        rc = shim_request_finish(request, status);
    } else {
        bcs_wait_in_vain(shim_context());
    }
    shim_leave();
    return raise(comm, rc);
}

/** Requests that are looked at between two turns of a wait, unless it will sleep
 *  then. */
enum { LOOKS_A_TURN = 16 };

/** How far a wait has come with a list. Starts with zeros. */
struct scan {
    int first; /* all of ours before are over */
    int next;  /* to be looked at next; wraps around to first */
};

/** Look at a request of a list, and go on with it. @return whether it is one of ours
 *  that is not over */
static bool is_under_way(MPI_Request handle)
{
    struct shim_request *request = shim_request_find(handle);

    return request != NULL && request->is_active && !shim_request_look(request);
}

/** Go on with those requests of ours in a list that can: those that are over in front,
 *  the first that is not, and n_looks of the others. @return whether all are over */
static bool go_on(int count, const MPI_Request requests[], int n_looks,
                  struct scan *scan)
{
    int n_others;

    while (scan->first < count && !is_under_way(requests[scan->first])) {
        scan->first++;
    }
    n_others = count - scan->first - 1;
    for (int n = n_others < n_looks ? n_others : n_looks; n > 0; n--) {
        if (scan->next <= scan->first || scan->next >= count) {
            scan->next = scan->first + 1;
        }
        is_under_way(requests[scan->next]);
        scan->next++;
    }
    return scan->first >= count;
}

/** The call under way waits for a list: let the MDS know for what, by its first
 *  request. */
static inline void tell_first(int count, const MPI_Request requests[])
{
    int i = 0;

    if (__builtin_expect(shim_state.collect == NULL, 1)) {
        return;
    }
    while (i < count && !(shim_request_find(requests[i]) != NULL &&
                          shim_request_find(requests[i])->is_active)) {
        i++;
    }
    if (i < count) {
        shim_request_tell(shim_request_find(requests[i]));
    }
}

/** Whether all of a list's requests of ours are over; goes on with each that can. */
static bool are_ours_over(int count, const MPI_Request requests[])
{
    return go_on(count, requests, count, &(struct scan){0});
}

/** The first error of a list: the error handler gets its class, the caller of the MPI
 *  function MPI_ERR_IN_STATUS. */
struct failure {
    MPI_Comm comm; /* NULL: it has been raised */
    int error_class;
};

static void failure_note(struct failure *failure, MPI_Comm comm, int rc)
{
    if (rc != MPI_SUCCESS && failure->error_class == MPI_SUCCESS) {
        *failure = (struct failure){comm, rc};
    }
}

/** Raise the first error of a list. Inlined: see shim_keep_frame. */
static inline __attribute__((always_inline)) int
failure_raise(const struct failure *failure)
{
    if (failure->error_class == MPI_SUCCESS) {
        return MPI_SUCCESS;
    }
    raise(failure->comm, failure->error_class);
    return MPI_ERR_IN_STATUS;
}

/** Complete all requests of a list, which are over: ours one by one. */
static int complete_all(int count, MPI_Request requests[], MPI_Status statuses[],
                        const struct shim_foreign *foreign)
{
    struct failure failure = {.error_class = MPI_SUCCESS};

    for (int i = 0; i < count; i++) {
        MPI_Status *status = shim_status_at(statuses, i);
        struct shim_request *ours = shim_request_find(requests[i]);
        MPI_Comm comm = ours == NULL ? NULL : ours->error_comm;
        int rc = MPI_SUCCESS;

        if (ours != NULL && ours->is_plain) {
            rc = shim_request_finish_plain(ours, &requests[i], status);
            failure_note(&failure, comm, rc);
            shim_status_set_error(status, rc);
            continue;
        }
        if (foreign->n > 0 && shim_foreign_is(requests[i])) {
            continue;
        }
        if (is_active(requests[i])) {
            rc = shim_request_finish(&requests[i], status);
            failure_note(&failure, comm, rc);
        } else {
            shim_status_set_empty(status);
        }
        shim_status_set_error(status, rc);
    }
    shim_foreign_scatter(foreign, count, requests, statuses);
    failure_note(&failure, NULL, foreign->rc);
    shim_leave();
    return failure_raise(&failure);
}

/** Enter with a list of which all are to be completed, which has been counted. @return
 *  MPI_SUCCESS, or the error that has been raised: not entered */
static inline int enter_all(int count, MPI_Request requests[],
                            const struct census *census,
                            struct shim_foreign *foreign_out)
{
    int rc;

    if (census->is_wrong) {
        return shim_error(NULL, MPI_ERR_REQUEST);
    }
    shim_enter();
    rc = shim_foreign_gather(foreign_out, census->n_foreign, count, requests);
    if (rc != MPI_SUCCESS) {
        shim_leave();
        return shim_error(NULL, rc);
    }
    return MPI_SUCCESS;
}

int shim_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    struct bcs_waiter waiter = {0};
    struct scan scan = {0};
    struct shim_foreign foreign;
    struct census census;
    int rc;

    if (is_for_real(count, requests, &census)) {
        return shim_real.Waitall(count, requests, statuses);
    }
    rc = enter_all(count, requests, &census, &foreign);
    if (rc != MPI_SUCCESS) {
        return rc;
    }
    waiter.has_short_sleeps = census.n_foreign > 0;
    while (!go_on(count, requests, waiter.spell.is_announced ? count : LOOKS_A_TURN,
                  &scan) ||
           !shim_foreign_test(&foreign)) {
        tell_first(count - scan.first, requests + scan.first);
        if (bcs_wait_turn(shim_context(), &waiter)) {
            shim_standing_tell(&waiter, count - scan.first, requests + scan.first,
                               true);
        }
    }
    bcs_wait_stop(shim_context(), &waiter);
    rc = complete_all(count, requests, statuses, &foreign);
    shim_foreign_fini(&foreign);
    return rc;
}

int shim_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    struct shim_foreign foreign;
    struct census census;
    int rc;

    if (is_for_real(count, requests, &census) || flag == NULL) {
        return shim_real.Testall(count, requests, flag, statuses);
    }
    rc = enter_all(count, requests, &census, &foreign);
    if (rc != MPI_SUCCESS) {
        return rc;
    }
    *flag = are_ours_over(count, requests);
    if (!*flag) {
        *flag = shim_request_progress() && are_ours_over(count, requests);
    }
    *flag = *flag && shim_foreign_test(&foreign);
    if (*flag) {
        rc = complete_all(count, requests, statuses, &foreign);
    } else {
        bcs_wait_in_vain(shim_context());
        shim_leave();
    }
    shim_foreign_fini(&foreign);
    return rc;
}

/** Complete a request if it is over. @return whether it is; *rc_out is then an error
 *  code */
static bool complete(MPI_Request *handle, MPI_Status *status, int *rc_out)
{
    struct shim_request *request = shim_request_find(*handle);

    if (request == NULL) {
        return shim_foreign_complete(handle, status, rc_out);
    }
    if (!shim_request_look(request)) {
        return false;
    }
    *rc_out = shim_request_finish(handle, status);
    return true;
}

enum { NONE_ACTIVE = -1, NONE_OVER = -2 };

/** Complete the first request of a list that is over; goes on with those before it. */
static int complete_first(int count, MPI_Request requests[], MPI_Status *status,
                          struct failure *failure)
{
    int result = NONE_ACTIVE;

    for (int i = 0; i < count; i++) {
        if (is_active(requests[i])) {
            failure->comm = comm_of(requests[i]);
            if (complete(&requests[i], status, &failure->error_class)) {
                return i;
            }
            result = NONE_OVER;
        }
    }
    if (result == NONE_ACTIVE) {
        shim_status_set_empty(status);
    }
    failure->error_class = MPI_SUCCESS;
    return result;
}

int shim_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    struct bcs_waiter waiter = {0};
    struct failure failure;
    struct census census;
    int found;

    if (is_for_real(count, requests, &census) || index == NULL) {
        return shim_real.Waitany(count, requests, index, status);
    }
    if (census.is_wrong) {
        return shim_error(NULL, MPI_ERR_REQUEST);
    }
    shim_enter();
    waiter.has_short_sleeps = census.n_foreign > 0;
    while ((found = complete_first(count, requests, status, &failure)) == NONE_OVER) {
        tell_first(count, requests);
        if (bcs_wait_turn(shim_context(), &waiter)) {
            shim_standing_tell(&waiter, count, requests, false);
        }
    }
    bcs_wait_stop(shim_context(), &waiter);
    *index = found == NONE_ACTIVE ? MPI_UNDEFINED : found;
    shim_leave();
    return raise(failure.comm, failure.error_class);
}

int shim_Testany(int count, MPI_Request requests[], int *index, int *flag,
                 MPI_Status *status)
{
    struct failure failure;
    struct census census;
    int found;

    if (is_for_real(count, requests, &census) || index == NULL || flag == NULL) {
        return shim_real.Testany(count, requests, index, flag, status);
    }
    if (census.is_wrong) {
        return shim_error(NULL, MPI_ERR_REQUEST);
    }
    shim_enter();
    found = complete_first(count, requests, status, &failure);
    if (found == NONE_OVER && shim_request_progress()) {
        found = complete_first(count, requests, status, &failure);
    }
    if (found == NONE_OVER) {
        bcs_wait_in_vain(shim_context());
    }
    *flag = found != NONE_OVER;
    *index = found >= 0 ? found : MPI_UNDEFINED;
    shim_leave();
    return raise(failure.comm, failure.error_class);
}

/** Complete all requests of a list that are over. @return how many, or MPI_UNDEFINED if
 *  none is active */
static int complete_some(int count, MPI_Request requests[], int indices[],
                         MPI_Status statuses[], struct failure *failure)
{
    int n = 0;
    bool is_any_active = false;

    for (int i = 0; i < count; i++) {
        MPI_Status *status = shim_status_at(statuses, n);
        MPI_Comm comm = comm_of(requests[i]);
        int rc;

        if (is_active(requests[i])) {
            is_any_active = true;
            if (complete(&requests[i], status, &rc)) {
                failure_note(failure, comm, rc);
                shim_status_set_error(status, rc);
                indices[n++] = i;
            }
        }
    }
    return is_any_active ? n : MPI_UNDEFINED;
}

int shim_Waitsome(int incount, MPI_Request requests[], int *outcount, int indices[],
                  MPI_Status statuses[])
{
    struct bcs_waiter waiter = {0};
    struct failure failure = {.error_class = MPI_SUCCESS};
    struct census census;
    int n;

    if (is_for_real(incount, requests, &census) || outcount == NULL ||
        indices == NULL) {
        return shim_real.Waitsome(incount, requests, outcount, indices, statuses);
    }
    if (census.is_wrong) {
        return shim_error(NULL, MPI_ERR_REQUEST);
    }
    shim_enter();
    waiter.has_short_sleeps = census.n_foreign > 0;
    while ((n = complete_some(incount, requests, indices, statuses, &failure)) == 0) {
        tell_first(incount, requests);
        if (bcs_wait_turn(shim_context(), &waiter)) {
            shim_standing_tell(&waiter, incount, requests, false);
        }
    }
    bcs_wait_stop(shim_context(), &waiter);
    *outcount = n;
    shim_leave();
    return failure_raise(&failure);
}

int shim_Testsome(int incount, MPI_Request requests[], int *outcount, int indices[],
                  MPI_Status statuses[])
{
    struct failure failure = {.error_class = MPI_SUCCESS};
    struct census census;

    if (is_for_real(incount, requests, &census) || outcount == NULL ||
        indices == NULL) {
        return shim_real.Testsome(incount, requests, outcount, indices, statuses);
    }
    if (census.is_wrong) {
        return shim_error(NULL, MPI_ERR_REQUEST);
    }
    shim_enter();
    *outcount = complete_some(incount, requests, indices, statuses, &failure);
    if (*outcount == 0 && shim_request_progress()) {
        *outcount = complete_some(incount, requests, indices, statuses, &failure);
    }
    if (*outcount == 0) {
        bcs_wait_in_vain(shim_context());
    }
    shim_leave();
    return failure_raise(&failure);
}
