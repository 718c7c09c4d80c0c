/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Taking a request back (MPI_Cancel). Called by the entry point in the application's
 * threads, after shim_enter.
 */
#include "mpi_shim/request/request_cancel.h"

/** What carries a buffered send that did not end at once, if it is still under way. */
static struct shim_request *carrier_of(const struct shim_request *request)
{
    struct shim_request *carrier = shim_state.arena->orphans;

    while (carrier != NULL && (carrier->kind != SHIM_SEND_BUFFERED ||
                               carrier->number != request->number)) {
        carrier = carrier->next;
    }
    return carrier;
}

/** The same as shim_request_cancel of a send. */
static void cancel_send(struct shim_request *request)
{
    struct shim_request *posted = request->number == 0 ? request : carrier_of(request);
    uint64_t n_bytes = bcs_request_state(&request->base)->n_bytes;

    if (posted != NULL && bcs_cancel_send(shim_context(), &posted->base,
                                          request->comm->group.ports[request->peer])) {
        request->base.result = posted->base.result;
        shim_record_taken_back(request->comm, request->peer, request->tag, n_bytes);
        shim_request_reap();
    }
}

void shim_request_cancel(struct shim_request *request)
{
    if (!request->is_active || request->is_proc_null) {
        return;
    }
    if (bcs_request_state(&request->base)->is_send) {
        cancel_send(request);
    } else {
        bcs_cancel(shim_context(), &request->base);
        /* programs expect MPI_Test to succeed at once */
        bcs_cancel_wait(shim_context(), &request->base);
    }
}
