/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Assembling before a call of the real library; see assemble.h.
 */
#include "mpi_shim/calls/assemble.h"

#include "libbcs/api/message/wait.h"
#include "mds/collect.h"
#include "mpi_shim/calls/crowd.h"
#include "mpi_shim/comm/comm_table.h"
#include "mpi_shim/real/error.h"
#include "mpi_shim/real/pass.h"
#include "mpi_shim/real/state.h"

_Static_assert((int)SHIM_N_FUNCTIONS <= (int)BCS_CALLS_MOST, "raise BCS_CALLS_MOST");

const char *shim_assemble_name(unsigned int function)
{
    return shim_function_names[function];
}

/** Wait for the members, inside of the door. @return an error class */
static int assemble(struct shim_comm *comm, enum shim_function function)
{
    bool has_crowd = shim_is_threaded();
    int status;

    if (has_crowd) {
        shim_crowd_begin(comm);
    }
    status = bcs_wait_for_members(shim_context(), comm->whole, function);
    if (has_crowd) {
        shim_crowd_end(comm);
    }
    return shim_class_of_status(status);
}

int shim_assemble(MPI_Comm handle, enum shim_function function)
{
    struct shim_comm *comm;
    int class;

    shim_enter();
    comm = shim_comm_find(handle);
    class = comm == NULL ? MPI_SUCCESS : assemble(comm, function);
    shim_leave();
    return class == MPI_SUCCESS ? class : shim_error(handle, class);
}

/* The time is that of the whole call: mds_begin of a call within another does
 * nothing. */
#define SHIM_ASSEMBLED(name, parameters, arguments)                                    \
    int shim_assembled_##name parameters                                               \
    {                                                                                  \
        struct mds_collect *collect = shim_state.collect;                              \
        uint64_t began;                                                                \
        int rc;                                                                        \
                                                                                       \
        if (!shim_state.gate.is_active) {                                              \
            return shim_pass_##name arguments;                                         \
        }                                                                              \
        began = mds_begin(collect, SHIM_FN_##name, MDS_BLOCKING);                      \
        rc = shim_assemble(comm, SHIM_FN_##name);                                      \
        if (rc == MPI_SUCCESS) {                                                       \
            rc = shim_pass_##name arguments;                                           \
        }                                                                              \
        mds_end(collect, SHIM_FN_##name, MDS_BLOCKING, began);                         \
        return rc;                                                                     \
    }
#include "mpi_shim/real/functions.def"
