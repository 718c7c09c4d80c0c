/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MDS of a program of MPI: what its calls are, and when it records. The rest does
 * libbcs/api/job_record.c. Runs in MPI_Init and MPI_Finalize.
 */
#include "mpi_shim/calls/call_recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/api/job_record.h"
#include "libbcs/fabric/base/log_job.h"
#include "mpi_shim/calls/caller.h"
#include "mpi_shim/comm/comm_table.h"
#include "mpi_shim/real/fallback.h"
#include "mpi_shim/real/handles.h"
#include "mpi_shim/real/real.h"
#include "mpi_shim/real/state.h"

void shim_monitor_prepare(const struct mds_config *config,
                          const struct bcs_bootstrap *bootstrap,
                          const struct bcs_port_map *map, struct nic_config *nic)
{
    int rc = -ENOMEM;

    shim_state.record = calloc(1, sizeof(*shim_state.record));
    if (shim_state.record != NULL) {
        rc = bcs_job_record_prepare(config, bootstrap, map, nic, shim_state.record);
    }
    if (rc < 0) {
        bcs_job_error("MPI_Init: BCS_MDS: %s", strerror(-rc));
        shim_real.Abort(shim_handles.comm_world, EXIT_FAILURE);
    }
}

void shim_monitor_undo(void)
{
    bcs_job_record_undo(shim_state.record);
}

void shim_monitor_start(const struct mds_config *config)
{
    struct mmds_plan plan = {
        .is_shared = shim_is_threaded(),
        .names = shim_function_names,
        .timings = shim_function_timings,
        .n_primitives = SHIM_N_FUNCTIONS,
    };

    bcs_job_record_start(shim_state.record, shim_context(), config, &plan);
    shim_state.collect = bcs_recorder_collect(shim_state.record->recorder);
    if (shim_state.collect != NULL) {
        shim_caller_setup();
        shim_watch();
    }
}

const char *shim_monitor_folder(void)
{
    return bcs_recorder_folder(shim_state.record->recorder);
}

void shim_monitor_stop(void)
{
    if (shim_state.collect != NULL) {
        shim_comm_record_names();
        shim_state.collect = NULL;
        shim_watch();
        bcs_job_record_stop(shim_state.record);
    }
}

void shim_monitor_report(void)
{
    uint64_t n_passed[SHIM_N_FUNCTIONS];
    struct bcs_recorder_end end;

    if (shim_state.record->recorder != NULL) {
        end = bcs_job_record_slices(shim_state.record, shim_context(), 0);
        shim_pass_counts(n_passed, SHIM_N_FUNCTIONS);
        end.n_passed = n_passed;
        bcs_job_record_end(shim_state.record, &end);
    }
}

void shim_monitor_close(void)
{
    bcs_job_record_close(shim_state.record);
    free(shim_state.record);
    shim_state.record = NULL;
}
