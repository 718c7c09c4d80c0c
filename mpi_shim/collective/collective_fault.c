/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the argument that the check has refused; see collective_fault.h. It looks at
 * the buffers in the order in which the check does, and not at those that a rank need
 * not describe.
 */
#include "mpi_shim/collective/collective_fault.h"

#include "mpi_shim/collective/collective_check.h"

/** Find the block whose count or type is wrong, if the data are described block by
 *  block. @return -1: there is none */
static int wrong_block(const struct shim_layout *layout, int error_class)
{
    for (int32_t i = 0; layout->counts != NULL && i < layout->n_blocks; i++) {
        bool is_wrong_type =
            layout->has_types && i == layout->n_types && error_class == MPI_ERR_TYPE;

        if (is_wrong_type || (error_class == MPI_ERR_COUNT && layout->counts[i] < 0)) {
            return i;
        }
    }
    return -1;
}

/** Look for what is wrong with one buffer. @return whether it is this one */
static bool is_wrong(const struct shim_layout *layout, int error_class,
                     struct shim_fault *fault)
{
    int block = wrong_block(layout, error_class);
    bool is_whole = !layout->has_types && error_class == MPI_ERR_TYPE
                        ? layout->type == NULL
                        : !layout->is_vector;

    if (layout->buf == MPI_IN_PLACE || (block < 0 && !is_whole)) {
        return false;
    }
    if (block < 0 && error_class == MPI_ERR_COUNT && layout->count >= 0) {
        return false;
    }
    fault->block = block;
    fault->count = block < 0 ? layout->count : layout->counts[block];
    fault->datatype =
        layout->has_types && block >= 0 ? layout->datatypes[block] : layout->datatype;
    return true;
}

void shim_collective_fault(const struct shim_comm *comm,
                           const struct shim_collective *call, int error_class,
                           char words_out[SHIM_FAULT_BYTES])
{
    struct shim_fault fault = {
        .block = -1,
        .rank = call->root,
        .n_ranks = comm->group.size,
        .op = call->op_handle,
    };
    bool is_root = shim_collective_role(comm, call->root) == SHIM_ROLE_ROOT;
    bool is_found;

    switch (call->kind) {
    case SHIM_SCATTER:
        is_found = is_wrong(&call->receive, error_class, &fault) ||
                   (is_root && is_wrong(&call->send, error_class, &fault));
        break;
    case SHIM_GATHER:
        is_found = is_wrong(&call->send, error_class, &fault) ||
                   (is_root && is_wrong(&call->receive, error_class, &fault));
        break;
    case SHIM_ALLGATHER:
    case SHIM_ALLTOALL:
    case SHIM_NEIGHBOR_ALLGATHER:
    case SHIM_NEIGHBOR_ALLTOALL:
        is_found = is_wrong(&call->send, error_class, &fault) ||
                   is_wrong(&call->receive, error_class, &fault);
        break;
    default:
        is_found = is_wrong(&call->receive, error_class, &fault);
        break;
    }
    words_out[0] = '\0';
    if (is_found || (error_class != MPI_ERR_COUNT && error_class != MPI_ERR_TYPE)) {
        shim_fault_words(error_class, &fault, words_out);
    }
}
