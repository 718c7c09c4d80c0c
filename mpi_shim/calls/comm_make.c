/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entry points that make and free communicators. The members assemble in us, the
 * real library makes the communicator, with its attributes, topology and error handler,
 * and the shim then carries it. Runs in the application's threads.
 */
#include "mpi_shim/calls/assemble.h"
#include "mpi_shim/calls/comm_idup.h"
#include "mpi_shim/calls/mpi4py_method.h"
#include "mpi_shim/calls/mpi_calls.h"
#include "mpi_shim/comm/comm_table.h"
#include "mpi_shim/real/fallback.h"
#include "mpi_shim/real/handles.h"
#include "mpi_shim/real/real.h"
#include "mpi_shim/request/request.h"

/** A communicator from which the real library is to make another, or that it is to
 *  free: first all duplicates are finished that are under way. */
static void settle(MPI_Comm comm)
{
    if (shim_state.idups != NULL) {
        shim_idups_await(comm);
    }
}

/** All that a constructor does before the real library makes a communicator. @return
 *  MPI_SUCCESS, or an error that was raised: nobody is to make it */
static int prepare(MPI_Comm over, enum shim_function function, const MPI_Comm *newcomm)
{
    int rc;

    settle(over);
    /* Of wrong arguments the real library tells, before it waits for others. */
    rc = newcomm == NULL ? MPI_SUCCESS : shim_assemble(over, function);
    if (rc == MPI_SUCCESS) {
        shim_outside_begin();
    }
    return rc;
}

/** Carry the communicator that a constructor of the real library has made from
 *  another. */
static int made(int rc, MPI_Comm over, const MPI_Comm *newcomm)
{
    if (rc == MPI_SUCCESS) {
        rc = shim_mpi4py_is_hidden() ? shim_comm_add_hidden(*newcomm, over)
                                     : shim_comm_add(*newcomm);
    }
    shim_outside_end();
    return rc;
}

#define SHIM_CONSTRUCTS(name, parameters, arguments, over, newcomm)                    \
    int shim_##name parameters                                                         \
    {                                                                                  \
        int rc = prepare(over, SHIM_FN_##name, newcomm);                               \
                                                                                       \
        return rc == MPI_SUCCESS ? made(shim_real.name arguments, over, newcomm) : rc; \
    }
#include "mpi_shim/real/functions.def"

/** Members of the group alone call it, and they assemble nowhere. */
int shim_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm)
{
    shim_outside_begin();
    return made(shim_real.Comm_create_group(comm, group, tag, newcomm), comm, newcomm);
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
        settle(*comm);
        shim_enter();
        shim_request_outlive(*comm);
        shim_comm_retire(*comm);
        shim_leave();
    }
}

int shim_Comm_free(MPI_Comm *comm)
{
    int rc;

    retire(comm);
    shim_outside_begin();
    rc = shim_real.Comm_free(comm);
    shim_outside_end();
    return rc;
}

int shim_Comm_disconnect(MPI_Comm *comm)
{
    int rc;

    retire(comm);
    shim_outside_begin();
    rc = shim_real.Comm_disconnect(comm);
    shim_outside_end();
    return rc;
}
