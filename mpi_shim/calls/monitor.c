/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts and stops the MDS of a process, and has its results printed, and written into the run's
 * folder, if there is one. Runs in MPI_Init and MPI_Finalize.
 */
#include "mpi_shim/calls/monitor.h"

#include <errno.h>
#include <stdlib.h>

#include "libbcs/api/recorded.h"
#include "libbcs/api/slice_files.h"
#include "libbcs/base/log_job.h"
#include "libbcs/session/meeting.h"
#include "libbcs/session/variables.h"
#include "mds/emds.h"
#include "mds/recorder.h"
#include "mds/selection.h"
#include "mpi_shim/calls/caller.h"
#include "mpi_shim/comm/comm.h"
#include "mpi_shim/real/fallback.h"
#include "mpi_shim/real/handles.h"
#include "mpi_shim/real/real.h"
#include "mpi_shim/real/state.h"

/** What lasts from MPI_Init to MPI_Finalize. */
struct shim_monitor {
    struct mds_recorder recorder;
    bool has_calls, has_slices;     /* what is recorded, on some ranks and nodes */
    struct bcs_slice_files *slices; /* NULL: none are recorded in the folder */
    struct bcs_bootstrap bootstrap;
    int error; /* why there is no folder */
};

static bool is_first(const struct shim_monitor *monitor)
{
    return monitor->bootstrap.rank == 0;
}

/** The first rank makes the folder of the run, and all learn its name. */
static void make_folder(struct shim_monitor *monitor, const char *parent)
{
    struct mds_recorder *recorder = &monitor->recorder;

    if (is_first(monitor)) {
        monitor->error = mds_recorder_make_folder(recorder, parent);
    }
    shim_real.Bcast(recorder->folder, sizeof(recorder->folder), shim_handles.byte, 0,
                    shim_handles.comm_world);
}

/** The report of a deadlock goes into the run's folder, too. */
static void report_there(const struct shim_monitor *monitor)
{
    char path[MDS_PATH_BYTES];
    int rc = mds_deadlock_path(monitor->recorder.folder, path);

    if (rc == 0) {
        rc = bcs_context_report_into(shim_context(), path);
    }
    if (rc < 0) {
        mds_recorder_tell_unwritten(MDS_DEADLOCK_NAME, rc);
    }
}

/** Start recording. */
static void start_recording(struct shim_monitor *monitor,
                            const struct mds_config *config)
{
    struct mmds_plan plan = {
        .is_shared = shim_state.is_threaded,
        .rank = bcs_context_rank(shim_context()),
        .names = shim_function_names,
        .timings = shim_function_timings,
        .n_primitives = SHIM_N_FUNCTIONS,
        .slice = bcs_context_slice_number(shim_context()),
        .stamps = bcs_context_stamps(shim_context()),
        .begins = bcs_context_slice_begins(shim_context()),
    };

    mds_recorder_start(&monitor->recorder, &plan, config);
    if (monitor->recorder.collect != NULL) {
        shim_caller_setup();
        shim_state.collect = monitor->recorder.collect;
        shim_watch();
    }
}

/** Have slices be recorded in files of the folder. */
static void open_slices(struct shim_monitor *monitor, const struct mds_config *config,
                        struct nic_config *nic)
{
    const struct bcs_slice_files_plan plan = {
        .folder = monitor->recorder.folder,
        .config = config,
        .nic = nic,
        .bootstrap = monitor->bootstrap,
    };

    if (bcs_slice_files_open(&plan, &monitor->slices) < 0) {
        shim_real.Abort(shim_handles.comm_world, EXIT_FAILURE);
    }
    nic->record.places = bcs_slice_files_places(monitor->slices);
}

void shim_monitor_prepare(const struct mds_config *config,
                          const struct bcs_bootstrap *bootstrap, struct nic_config *nic)
{
    uint32_t n_ranks = bootstrap->size;
    struct shim_monitor *monitor;

    if (config->mode == MDS_MODE_OFF) {
        return;
    }
    monitor = calloc(1, sizeof(*monitor));
    if (monitor == NULL) {
        bcs_job_error("no memory for the monitor");
        shim_real.Abort(shim_handles.comm_world, EXIT_FAILURE);
    }
    monitor->bootstrap = *bootstrap;
    monitor->recorder.manifest = (struct mds_manifest){
        .n_ranks = n_ranks,
        .n_nodes = bcs_nodes_of_job(nic, n_ranks),
    };
    monitor->recorder.manifest.tables =
        bcs_variables_tables(&monitor->recorder.manifest.n_tables);
    monitor->has_calls = mds_records_calls(config);
    bcs_record_set_up(config, bootstrap->rank, n_ranks, nic);
    monitor->has_slices = nic->record.n_spans > 0;
    if (config->folder[0] != '\0') {
        make_folder(monitor, config->folder);
    }
    if (monitor->has_slices && monitor->recorder.folder[0] != '\0') {
        open_slices(monitor, config, nic);
    }
    shim_state.monitor = monitor;
}

void shim_monitor_undo(void)
{
    struct shim_monitor *monitor = shim_state.monitor;

    if (monitor == NULL) {
        return;
    }
    bcs_slice_files_undo(monitor->slices);
    if (monitor->recorder.folder[0] != '\0') {
        if (is_first(monitor)) {
            mds_run_folder_remove(monitor->recorder.folder);
        }
        bcs_meet_again(&monitor->bootstrap, 0); /* before any of them ends the job */
    }
    shim_monitor_close();
}

void shim_monitor_start(const struct mds_config *config)
{
    struct shim_monitor *monitor = shim_state.monitor;

    if (monitor == NULL) {
        return;
    }
    if (monitor->error < 0) {
        mds_recorder_tell_unwritten(config->folder, monitor->error);
    }
    bcs_slice_files_begin(monitor->slices, shim_context());
    if (is_first(monitor) && monitor->recorder.folder[0] != '\0') {
        report_there(monitor);
    }
    if (monitor->has_calls && mds_ranks_has(config->ranks, monitor->bootstrap.rank)) {
        start_recording(monitor, config);
    }
}

void shim_monitor_stop(void)
{
    struct mds_collect *collect = shim_state.collect;

    if (collect != NULL) {
        shim_comm_record_names();
        shim_state.collect = NULL;
        shim_watch();
        mmds_stop(collect);
    }
}

static int gather(void *arg, const void *mine, size_t n_bytes, void *all)
{
    (void)arg;
    return shim_real.Gather(mine, (int)n_bytes, shim_handles.byte, all, (int)n_bytes,
                            shim_handles.byte, 0,
                            shim_handles.comm_world) == MPI_SUCCESS
               ? 0
               : -EIO;
}

/** Print tables of the calls that all ranks have recorded. @param is_brief  but the one over all */
static void print_calls(const struct mds_collect *collect, bool is_brief)
{
    struct mmds_summary summary = {0};
    const struct mmds_report report = {
        .names = shim_function_names,
        .n_primitives = SHIM_N_FUNCTIONS,
        .rank = bcs_context_rank(shim_context()),
        .n_ranks = bcs_context_size(shim_context()),
        .is_brief = is_brief,
        .gather = gather,
        .out = stderr,
    };

    if (collect != NULL) {
        mmds_summarize(collect, &summary);
        shim_pass_counts(summary.passed, SHIM_N_FUNCTIONS);
    }
    summary.n_slices = bcs_context_slices(shim_context());
    summary.strobes = bcs_context_recorded_strobes(shim_context());
    mmds_report(&report, &summary);
}

/** Print the table of slices over all nodes. By one rank. */
static void print_slices(void)
{
    struct emds_summary summary = {0};

    bcs_context_sum_slices(shim_context(), &summary);
    emds_print(stderr, &summary);
}

/** Print tables of what was recorded. */
static void print(const struct shim_monitor *monitor, bool is_brief)
{
    if (monitor->has_calls) {
        print_calls(monitor->recorder.collect, is_brief);
    }
    if (monitor->has_slices && is_first(monitor)) {
        print_slices();
    }
}

/** Write this rank's file. */
static void write_own(struct shim_monitor *monitor)
{
    uint64_t n_passed[SHIM_N_FUNCTIONS];
    struct mds_process process = {
        .end = MDS_DUMP_END_FINALIZE,
        .n_slices = bcs_context_slices(shim_context()),
        .n_passed = n_passed,
    };

    shim_pass_counts(n_passed, SHIM_N_FUNCTIONS);
    mds_recorder_write(&monitor->recorder, bcs_context_rank(shim_context()), &process);
}

/** Write what all ranks have recorded. */
static void write_all(struct shim_monitor *monitor)
{
    if (monitor->recorder.collect != NULL) {
        write_own(monitor);
    }
    shim_real.Barrier(shim_handles.comm_world); /* and nothing is under way any more */
    if (monitor->slices != NULL) {
        bcs_slice_files_write(monitor->slices, shim_context());
    }
    print(monitor, true);
    if (is_first(monitor)) {
        mds_recorder_tell_end(&monitor->recorder);
    }
}

const char *shim_monitor_folder(void)
{
    const struct shim_monitor *monitor = shim_state.monitor;

    return monitor == NULL || monitor->recorder.folder[0] == '\0'
               ? NULL
               : monitor->recorder.folder;
}

void shim_monitor_report(void)
{
    struct shim_monitor *monitor = shim_state.monitor;

    if (monitor == NULL) {
        return;
    }
    if (monitor->recorder.folder[0] != '\0') {
        write_all(monitor);
    } else {
        shim_real.Barrier(shim_handles.comm_world);
        print(monitor, false);
    }
    shim_caller_teardown();
    mds_recorder_drop(&monitor->recorder);
}

void shim_monitor_close(void)
{
    struct shim_monitor *monitor = shim_state.monitor;

    if (monitor != NULL) {
        bcs_slice_files_close(monitor->slices);
        free(monitor);
        shim_state.monitor = NULL;
    }
}
