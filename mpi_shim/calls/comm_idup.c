/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Comm_idup. The real library makes the communicator, without blocking; at the same
 * time the leader of the old one, which leads the new one, too, broadcasts its
 * agreement over the old one, as a non-blocking collective of ours. The request is done
 * when both are over, in either order. Runs in the application's threads.
 *
 * Of several duplications of one communicator the real library gets one at a time: of
 * Open MPI 4.1's own, each is a row of collectives on the old communicator, begun as
 * time goes by, and two rows at once may mix in another order on another rank. It has
 * to be looked after while this process waits or tests, also for others.
 */
#include "mpi_shim/calls/comm_idup.h"

#include <errno.h>
#include <stdlib.h>

#include "libbcs/api/message/wait.h"
#include "libbcs/api/record/stand_tell.h"
#include "mpi_shim/calls/mpi_calls.h"
#include "mpi_shim/comm/comm_agree.h"
#include "mpi_shim/comm/comm_table.h"
#include "mpi_shim/real/error.h"
#include "mpi_shim/real/fallback.h"
#include "mpi_shim/real/handles.h"
#include "mpi_shim/real/pass.h"
#include "mpi_shim/real/real.h"
#include "mpi_shim/request/request.h"

/** One call. */
struct shim_idup {
    struct shim_request *request; /* the program's; it holds the old communicator */
    MPI_Comm parent;
    MPI_Comm *newcomm_out; /* the program's; not to be used yet */
    bool is_begun;         /* some thread starts the real library's part */
    bool is_started;       /* and has done so */
    int rc;                /* of the start */
    MPI_Request real;
    struct bcs_request told; /* our part: agreement has come */
    struct shim_agreement agreement;
    struct shim_idup *next;
};

/** The program's request, which is done when shim_idups_move says so. @return NULL: no
 *  memory */
static struct shim_request *describe(struct shim_comm *parent)
{
    struct shim_request *request = shim_request_new();

    if (request != NULL) {
        request->kind = SHIM_EXCHANGE;
        request->comm = parent;
        request->error_comm = parent->handle;
        *bcs_request_state(&request->base) = (struct bcs_request_state){
            .is_pending = true, .is_send = true, .is_collective = true};
        request->is_active = true;
        parent->n_users++;
    }
    return request;
}

static bool is_under_way(MPI_Comm parent, const struct shim_idup *before)
{
    const struct shim_idup *idup = shim_state.idups;

    while (idup != before && idup->parent != parent) {
        idup = idup->next;
    }
    return idup != before;
}

static void append(struct shim_idup *idup)
{
    struct shim_idup **link = &shim_state.idups;

    while (*link != NULL) {
        link = &(*link)->next;
    }
    *link = idup;
}

/** The oldest that the real library can begin: it has none of the same parent
 *  before. */
static struct shim_idup *find_next(void)
{
    struct shim_idup *idup = shim_state.idups;

    while (idup != NULL && (idup->is_begun || is_under_way(idup->parent, idup))) {
        idup = idup->next;
    }
    return idup;
}

/** The oldest that waits for another one of the same parent. */
static struct shim_idup *find_waiting(void)
{
    struct shim_idup *idup = shim_state.idups;

    while (idup != NULL && idup->is_begun) {
        idup = idup->next;
    }
    return idup;
}

/** Have the real library begin what it can; it calls the program's attribute
 *  functions. */
static void begin_real(void)
{
    struct shim_idup *idup;

    while ((idup = find_next()) != NULL) {
        idup->is_begun = true;
        shim_leave();
        idup->rc = shim_real.Comm_idup(idup->parent, idup->newcomm_out, &idup->real);
        shim_enter();
        idup->is_started = true;
    }
}

/** Agree on a communicator that the real library makes or is going to make. */
static int start(struct shim_comm *parent, MPI_Comm *newcomm, MPI_Request *request_out)
{
    struct shim_idup *idup = malloc(sizeof(*idup));
    struct shim_request *request = idup == NULL ? NULL : describe(parent);

    if (request == NULL) {
        free(idup);
        return MPI_ERR_NO_MEM;
    }
    *idup = (struct shim_idup){
        .request = request, .parent = parent->handle, .newcomm_out = newcomm};
    if (parent->whole->rank == 0) {
        idup->agreement = shim_agreement_propose();
    }
    if (bcs_api_bcast(shim_context(), parent->whole, &idup->agreement,
                      sizeof(idup->agreement), 0, &idup->told) < 0) {
        shim_request_delete(request);
        free(idup);
        return MPI_ERR_NO_MEM;
    }
    append(idup);
    bcs_wait_sleep_short(shim_context()); /* the real library must be looked after */
    *request_out = shim_request_handle(request);
    return MPI_SUCCESS;
}

int shim_Comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
{
    struct shim_comm *parent;
    int rc = MPI_SUCCESS;

    shim_enter();
    parent = shim_comm_find(comm);
    if (parent != NULL && newcomm != NULL && request != NULL) {
        rc = start(parent, newcomm, request);
        shim_idups_move();
    } else {
        parent = NULL;
    }
    shim_leave();
    if (parent == NULL) {
        return shim_pass_Comm_idup(comm, newcomm, request);
    }
    return shim_error(comm, rc);
}

/** Both parts are over. */
static void finish(struct shim_idup *idup)
{
    struct bcs_request *base = &idup->request->base;

    base->result = (struct bcs_result){.source = BCS_ANY_SOURCE, .tag = BCS_ANY_TAG};
    base->result.error = idup->agreement.is_valid && idup->rc == MPI_SUCCESS
                             ? shim_comm_carry(*idup->newcomm_out, &idup->agreement)
                             : -ENOMEM;
    bcs_request_state(base)->is_pending = false;
    bcs_wait_sleep_long(shim_context());
    free(idup);
}

bool shim_idups_move(void)
{
    struct shim_idup **link = &shim_state.idups;
    bool are_over = false;

    begin_real();
    while (*link != NULL) {
        struct shim_idup *idup = *link;

        if (bcs_is_done(&idup->told) && idup->is_started &&
            (idup->rc != MPI_SUCCESS || shim_test_real(&idup->real))) {
            *link = idup->next;
            finish(idup);
            are_over = true;
        } else {
            link = &idup->next;
        }
    }
    return are_over;
}

void shim_idups_await(MPI_Comm parent)
{
    struct bcs_waiter waiter = {0};

    shim_enter();
    while (is_under_way(parent, NULL) || find_waiting() != NULL) {
        if (bcs_wait_turn(shim_context(), &waiter)) {
            bcs_stand_at_other(shim_context(), &waiter);
        }
    }
    bcs_wait_stop(shim_context(), &waiter);
    shim_leave();
}
