/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Comm_idup. The real library makes the communicator, without blocking; at the same
 * time the leader of the old one, which leads the new one, too, broadcasts its agreement
 * over the old one, as a non-blocking collective of ours. The request is done when both are
 * over, in either order. Runs in the application's threads.
 *
 * Nobody depends on this process to see that they are over: it has done its part of both
 * by then. So it is enough to look while this process waits or tests.
 */
#include "mpi_shim/comm_idup.h"

#include <errno.h>
#include <stdlib.h>

#include "libbcs/api/post.h"
#include "mpi_shim/comm_agree.h"
#include "mpi_shim/error.h"
#include "mpi_shim/fallback.h"
#include "mpi_shim/handles.h"
#include "mpi_shim/request.h"
#include "mpi_shim/symbols.h"

/** One call. */
struct shim_idup {
    struct shim_request *request; /* the program's; it holds the old communicator */
    MPI_Comm handle;              /* the new communicator, not to be used yet */
    MPI_Request real;             /* the real library's part */
    struct bcs_request told;      /* our part: agreement has come */
    struct shim_agreement agreement;
    struct shim_idup *next;
};

struct shim_idup *shim_idups;

/** The program's request, which is done when shim_idups_move says so. @return NULL: no
 *  memory */
static struct shim_request *describe(struct shim_comm *parent)
{
    struct shim_request *request = shim_request_new();

    if (request != NULL) {
        request->kind = SHIM_EXCHANGE;
        request->comm = parent;
        request->error_comm = parent->handle;
        request->base.is_collective = true;
        request->base.is_send = true;
        request->base.cell = BCS_CELL_NONE;
        request->is_active = true;
        parent->n_users++;
    }
    return request;
}

/** The real library has begun to make a communicator: agree on it. */
static int start(struct shim_comm *parent, MPI_Comm handle, MPI_Request real,
                 MPI_Request *request_out)
{
    struct shim_idup *idup = malloc(sizeof(*idup));
    struct shim_request *request = idup == NULL ? NULL : describe(parent);

    if (request == NULL) {
        free(idup);
        return MPI_ERR_NO_MEM;
    }
    *idup = (struct shim_idup){
        .request = request, .handle = handle, .real = real, .next = shim_idups};
    if (parent->whole->rank == 0) {
        idup->agreement = shim_agreement_propose();
    }
    if (bcs_bcast(shim_context(), parent->whole, &idup->agreement,
                  sizeof(idup->agreement), 0, &idup->told) < 0) {
        shim_request_delete(request);
        free(idup);
        return MPI_ERR_NO_MEM;
    }
    shim_idups = idup;
    shim_context()->n_short_naps++; /* the real library's part needs looking after */
    *request_out = shim_request_handle(request);
    return MPI_SUCCESS;
}

int shim_Comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
{
    struct shim_comm *parent;
    MPI_Request real;
    int rc;

    shim_enter();
    parent = shim_comm_find(comm);
    shim_leave();
    if (parent == NULL || request == NULL) {
        return shim_pass_Comm_idup(comm, newcomm, request);
    }
    rc = shim_real.Comm_idup(comm, newcomm, &real);
    if (rc == MPI_SUCCESS) {
        shim_enter();
        rc = start(parent, *newcomm, real, request);
        shim_leave();
        rc = shim_error(comm, rc);
    }
    return rc;
}

/** Both parts are over. */
static void finish(struct shim_idup *idup)
{
    struct bcs_request *base = &idup->request->base;

    base->result = (struct bcs_result){.source = BCS_ANY_SOURCE, .tag = BCS_ANY_TAG};
    base->result.error = idup->agreement.is_valid
                             ? shim_comm_carry(idup->handle, &idup->agreement)
                             : -ENOMEM;
    base->is_done = true;
    shim_context()->n_short_naps--;
    free(idup);
}

void shim_idups_move(void)
{
    struct shim_idup **link = &shim_idups;

    while (*link != NULL) {
        struct shim_idup *idup = *link;

        if (idup->told.is_done && shim_test_real(&idup->real)) {
            *link = idup->next;
            finish(idup);
        } else {
            link = &idup->next;
        }
    }
}

static bool is_under_way(MPI_Comm parent)
{
    const struct shim_idup *idup = shim_idups;

    while (idup != NULL && idup->request->error_comm != parent) {
        idup = idup->next;
    }
    return idup != NULL;
}

void shim_idups_await(MPI_Comm parent)
{
    struct nic_waiter waiter = {0};

    shim_enter();
    while (is_under_way(parent)) {
        bcs_wait_turn(shim_context(), &waiter);
    }
    bcs_wait_stop(shim_context(), &waiter);
    shim_leave();
}
