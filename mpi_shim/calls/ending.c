/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits by an attribute of MPI_COMM_SELF: MPI_Finalize deletes those first, in the
 * reverse order of their setting, so that the first one is the last to go. [MPI-3.1
 * section 8.7.1]
 */
#include "mpi_shim/calls/ending.h"

#include <errno.h>

#include "libbcs/api/message/misuse.h"
#include "libbcs/api/message/wait.h"
#include "mpi_shim/calls/call_recording.h"
#include "mpi_shim/calls/caller.h"
#include "mpi_shim/calls/lint_report.h"
#include "mpi_shim/comm/comm_table.h"
#include "mpi_shim/real/handles.h"
#include "mpi_shim/real/real.h"
#include "mpi_shim/real/state.h"
#include "mpi_shim/request/buffers.h"

/** An MPI_Comm_delete_attr_function. */
static int await_all(MPI_Comm self, int keyval, void *value, void *extra)
{
    struct shim_comm *world =
        shim_context() == NULL ? NULL : shim_comm_find(shim_handles.comm_world);

    (void)self;
    (void)keyval;
    (void)value;
    (void)extra;
    if (world != NULL) {
        shim_enter();
        shim_state.is_ending = true;
        while (bcs_wait_for_end(shim_context(), &world->group) > 0) {
        }
        bcs_misuse_left(shim_context(), &world->group);
        shim_leave();
        shim_enter();
        shim_buffers_stop();
        shim_watch();
        shim_leave();
        shim_lint_report();
        shim_monitor_report();
        shim_caller_teardown();
    }
    return MPI_SUCCESS;
}

/** An MPI_Comm_copy_attr_function: no other communicator gets it. (MPI's own is in the
 *  MPI library, with which this one is not linked.) */
static int copy_nothing(MPI_Comm comm, int keyval, void *extra, void *value,
                        void *value_out, int *is_copied_out)
{
    (void)comm;
    (void)keyval;
    (void)extra;
    (void)value;
    (void)value_out;
    *is_copied_out = 0;
    return MPI_SUCCESS;
}

int shim_ending_watch(void)
{
    int keyval, rc;

    rc = shim_real.Comm_create_keyval(copy_nothing, await_all, &keyval, NULL);
    if (rc == MPI_SUCCESS) {
        rc = shim_real.Comm_set_attr(shim_handles.comm_self, keyval, NULL);
        shim_real.Comm_free_keyval(&keyval);
    }
    return rc == MPI_SUCCESS ? 0 : -EIO;
}
