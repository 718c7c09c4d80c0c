/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long the data of a collective call are, for the MDS. Called under the lock in the
 * application's threads.
 */
#include "mpi_shim/collective/collective_bytes.h"

#include "mpi_shim/collective/collective_check.h"
#include "mpi_shim/comm/comm_neighbors.h"
#include "mpi_shim/comm/comm_record.h"

/** Whether how long this rank's data are is told by what it sends; else by what it
 *  gets. */
static bool is_told_by_send(const struct shim_comm *comm,
                            const struct shim_collective *call)
{
    switch (call->kind) {
    case SHIM_BCAST:
    case SHIM_REDUCE:
    case SHIM_ALLREDUCE:
    case SHIM_REDUCE_SCATTER:
    case SHIM_SCAN:
    case SHIM_EXSCAN:
        return false;
    case SHIM_SCATTER:
        return shim_collective_role(comm, call->root) == SHIM_ROLE_ROOT;
    default:
        return call->send.buf != MPI_IN_PLACE;
    }
}

/** How many blocks it has, if it describes one for all of them. */
static int32_t n_alike(struct shim_comm *comm, const struct shim_collective *call,
                       bool is_sent)
{
    const struct bcs_neighbors *neighbors;

    switch (call->kind) {
    case SHIM_SCATTER:
        return is_sent ? comm->group.size : 1;
    case SHIM_ALLTOALL:
        return comm->group.size;
    case SHIM_REDUCE_SCATTER:
        return shim_comm_own_size(comm);
    case SHIM_NEIGHBOR_ALLTOALL:
        neighbors = shim_neighbors_of(comm);
        return neighbors == NULL ? 0 : neighbors->n_targets;
    default:
        return 1;
    }
}

uint64_t shim_collective_bytes(struct shim_comm *comm,
                               const struct shim_collective *call)
{
    bool is_sent = is_told_by_send(comm, call);
    const struct shim_layout *layout = is_sent ? &call->send : &call->receive;
    uint64_t n_bytes = 0;

    if (layout->is_vector) {
        for (int32_t i = 0; i < layout->n_blocks; i++) {
            n_bytes += shim_layout_block_bytes(layout, i);
        }
        return n_bytes;
    }
    if (layout->type == NULL) {
        return 0; /* it has no part in the call */
    }
    return shim_layout_block_bytes(layout, 0) * (uint64_t)n_alike(comm, call, is_sent);
}

void shim_collective_record(struct shim_comm *comm, const struct shim_collective *call)
{
    shim_record_collective(
        comm, call->kind == SHIM_BARRIER ? 0 : shim_collective_bytes(comm, call));
}
