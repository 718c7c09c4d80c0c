/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entry points that make and free communicators. The real library makes every
 * communicator, with its attributes, topology and error handler; the shim then carries
 * it. Runs in the application's threads.
 */
#include "mpi_shim/calls/comm_idup.h"
#include "mpi_shim/calls/mpi_calls.h"
#include "mpi_shim/comm/comm_table.h"
#include "mpi_shim/real/fallback.h"
#include "mpi_shim/real/handles.h"
#include "mpi_shim/real/real.h"
#include "mpi_shim/request/request.h"

/** A communicator from which the real library is to make another, or that it is to
 *  free: first all duplicates are finished that are under way. */
static MPI_Comm settled(MPI_Comm comm)
{
    if (shim_state.idups != NULL) {
        shim_idups_await(comm);
    }
    shim_wait_outside();
    return comm;
}

/** Carry the communicator that a constructor of the real library has returned. */
static int made(int rc, const MPI_Comm *newcomm)
{
    return rc == MPI_SUCCESS ? shim_comm_add(*newcomm) : rc;
}

int shim_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{
    return made(shim_real.Comm_dup(settled(comm), newcomm), newcomm);
}

int shim_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
    return made(shim_real.Comm_dup_with_info(settled(comm), info, newcomm), newcomm);
}

int shim_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
    return made(shim_real.Comm_split(settled(comm), color, key, newcomm), newcomm);
}

int shim_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info,
                         MPI_Comm *newcomm)
{
    return made(
        shim_real.Comm_split_type(settled(comm), split_type, key, info, newcomm),
        newcomm);
}

int shim_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm)
{
    return made(shim_real.Comm_create(settled(comm), group, newcomm), newcomm);
}

int shim_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm)
{
    shim_wait_outside();
    return made(shim_real.Comm_create_group(comm, group, tag, newcomm), newcomm);
}

int shim_Cart_create(MPI_Comm comm, int ndims, const int dims[], const int periods[],
                     int reorder, MPI_Comm *newcomm)
{
    return made(
        shim_real.Cart_create(settled(comm), ndims, dims, periods, reorder, newcomm),
        newcomm);
}

int shim_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm)
{
    return made(shim_real.Cart_sub(settled(comm), remain_dims, newcomm), newcomm);
}

int shim_Graph_create(MPI_Comm comm, int nnodes, const int index[], const int edges[],
                      int reorder, MPI_Comm *newcomm)
{
    return made(
        shim_real.Graph_create(settled(comm), nnodes, index, edges, reorder, newcomm),
        newcomm);
}

int shim_Dist_graph_create(MPI_Comm comm, int n, const int sources[],
                           const int degrees[], const int destinations[],
                           const int weights[], MPI_Info info, int reorder,
                           MPI_Comm *newcomm)
{
    return made(shim_real.Dist_graph_create(settled(comm), n, sources, degrees,
                                            destinations, weights, info, reorder,
                                            newcomm),
                newcomm);
}

int shim_Dist_graph_create_adjacent(MPI_Comm comm, int indegree, const int sources[],
                                    const int sourceweights[], int outdegree,
                                    const int destinations[], const int destweights[],
                                    MPI_Info info, int reorder, MPI_Comm *newcomm)
{
    return made(shim_real.Dist_graph_create_adjacent(
                    settled(comm), indegree, sources, sourceweights, outdegree,
                    destinations, destweights, info, reorder, newcomm),
                newcomm);
}

int shim_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm *newcomm)
{
    return made(shim_real.Intercomm_merge(settled(intercomm), high, newcomm), newcomm);
}

int shim_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm bridge_comm,
                          int remote_leader, int tag, MPI_Comm *newintercomm)
{
    return made(shim_real.Intercomm_create(settled(local_comm), local_leader,
                                           bridge_comm, remote_leader, tag,
                                           newintercomm),
                newintercomm);
}

static bool is_permanent(MPI_Comm handle)
{
    return handle == shim_handles.comm_null || handle == shim_handles.comm_world ||
           handle == shim_handles.comm_self;
}

/** The program lets go of a communicator. */
static void retire(const MPI_Comm *comm)
{
    if (comm != NULL && !is_permanent(*comm)) {
        settled(*comm);
        shim_enter();
        shim_request_outlive(*comm);
        shim_comm_retire(*comm);
        shim_leave();
    }
}

int shim_Comm_free(MPI_Comm *comm)
{
    retire(comm);
    return shim_real.Comm_free(comm);
}

int shim_Comm_disconnect(MPI_Comm *comm)
{
    retire(comm);
    return shim_real.Comm_disconnect(comm);
}
