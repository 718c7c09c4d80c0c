/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tells of sends that wait; see watch_send.h. Apart, so that the fast path of these has
 * one test for all.
 */
#include "mpi_shim/calls/watch_send.h"

#include "mpi_shim/comm/comm_record.h"
#include "mpi_shim/request/buffers.h"
#include "mpi_shim/request/request.h"

void shim_watch_send(const struct shim_call *call, struct shim_comm *comm,
                     const struct shim_datatype *type)
{
    size_t n_bytes = (size_t)call->count * type->size;

    shim_record_sent(comm, call->peer, call->tag, n_bytes);
    shim_record_target(comm, call->peer, call->tag);
    if (shim_state.buffers != NULL) {
        shim_buffers_use(call, comm, type);
    }
}
