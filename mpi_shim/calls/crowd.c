/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several threads in collectives of one communicator; see crowd.h.
 */
#include "mpi_shim/calls/crowd.h"

#include "libbcs/api/message/misuse.h"
#include "mpi_shim/comm/comm_table.h"

/** Say that this thread comes to a collective while another is in one, once of a
 *  communicator. */
static void tell(struct shim_comm *comm)
{
    struct bcs_context *context = shim_context();
    char name[MPI_MAX_OBJECT_NAME];

    if (comm->has_crowd || !bcs_misuse_is_told(context)) {
        return;
    }
    comm->has_crowd = true;
    shim_comm_name_group(comm->whole, name, sizeof(name));
    bcs_misuse_tell(context, comm->whole,
                    "MPI-3.1, 5.13: threads must not use a communicator for different "
                    "collectives at the same time",
                    "two threads of this rank are in collectives on %s at once", name);
}

void shim_crowd_begin(struct shim_comm *comm)
{
    comm->n_users++; /* whoever frees it meanwhile does not free this */
    if (comm->n_in_collectives++ != 0) {
        tell(comm);
    }
}

void shim_crowd_end(struct shim_comm *comm)
{
    comm->n_in_collectives--;
    shim_comm_release(comm);
}
