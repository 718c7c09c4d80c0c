/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What requests are about; see standing.h.
 */
#include "mpi_shim/calls/standing.h"

#include "mpi_shim/real/handles.h"
#include "mpi_shim/real/state.h"
#include "mpi_shim/request/foreign.h"
#include "mpi_shim/request/request.h"

/** What a request of ours is about. */
static void describe(const struct shim_request *request, struct bcs_stand_about *about)
{
    const struct shim_comm *comm = request->comm;

    if (comm == NULL) {
        about->kind = BCS_STAND_OTHER;
        return;
    }
    about->group = &comm->group;
    about->peer = request->peer;
    about->tag = request->tag;
    switch (request->kind) {
    case SHIM_EXCHANGE:
        about->kind = BCS_STAND_COLLECTIVE;
        about->collective = "collective";
        about->group = comm->whole;
        about->peer = -1;
        about->tag = -1;
        break;
    case SHIM_RECEIVE:
    case SHIM_RECEIVE_MESSAGE:
        about->kind = BCS_STAND_RECEIVE;
        break;
    default:
        about->kind = BCS_STAND_SEND;
        break;
    }
}

void shim_standing_describe(const struct bcs_request *request,
                            struct bcs_stand_about *about)
{
    const struct shim_request *ours =
        shim_request_find((MPI_Request)(void *)(uintptr_t)request);

    if (ours != NULL) {
        describe(ours, about);
    }
}

/** Add one of ours, with the send that may be part of it. */
static void add_ours(const struct shim_request *request)
{
    struct bcs_stand_about about = {
        .n_bytes = bcs_request_state(&request->base)->n_bytes,
        .request = &request->base,
    };

    if (!request->is_active || request->is_proc_null) {
        return;
    }
    describe(request, &about);
    bcs_stand_add(shim_context(), &about);
    if (request->partner != NULL) {
        add_ours(request->partner);
    }
}

bool shim_standing_has_others(void)
{
    return shim_state.idups != NULL;
}

void shim_standing_tell(struct bcs_waiter *waiter, int count,
                        const MPI_Request requests[], bool needs_all)
{
    bcs_stand_begin(shim_context(), needs_all);
    for (int i = 0; i < count; i++) {
        const struct shim_request *ours = shim_request_find(requests[i]);

        if (ours != NULL) {
            add_ours(ours);
        } else if (shim_foreign_is(requests[i])) {
            bcs_stand_add(shim_context(),
                          &(struct bcs_stand_about){
                              .kind = BCS_STAND_FOREIGN, .peer = -1, .tag = -1});
        }
    }
    bcs_stand_publish(shim_context(), waiter);
}
