/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Init, MPI_Init_thread, MPI_Finalize and MPI_Abort: the shim's state is made once
 * the real library is up, and taken down before it goes. The first three run in the
 * thread that initializes MPI, the last in any.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/api/message/p2p.h"
#include "libbcs/api/message/wait.h"
#include "libbcs/api/record/stand_tell.h"
#include "libbcs/fabric/base/forked.h"
#include "libbcs/fabric/base/log.h"
#include "libbcs/fabric/base/log_config.h"
#include "libbcs/fabric/base/log_job.h"
#include "libbcs/fabric/base/notice.h"
#include "libbcs/session/mapping.h"
#include "libbcs/session/variables.h"
#include "mds/mds_config.h"
#include "mpi_shim/calls/assemble.h"
#include "mpi_shim/calls/call_place.h"
#include "mpi_shim/calls/call_recording.h"
#include "mpi_shim/calls/caller.h"
#include "mpi_shim/calls/comm_idup.h"
#include "mpi_shim/calls/ending.h"
#include "mpi_shim/calls/lint.h"
#include "mpi_shim/calls/mpi_calls.h"
#include "mpi_shim/calls/place_finder.h"
#include "mpi_shim/calls/standing.h"
#include "mpi_shim/comm/comm_table.h"
#include "mpi_shim/data/datatype.h"
#include "mpi_shim/data/op.h"
#include "mpi_shim/real/door.h"
#include "mpi_shim/real/error.h"
#include "mpi_shim/real/fallback.h"
#include "mpi_shim/real/gate.h"
#include "mpi_shim/real/handles.h"
#include "mpi_shim/real/real.h"
#include "mpi_shim/real/state.h"
#include "mpi_shim/request/buffers.h"
#include "mpi_shim/request/request.h"

/** Called now and then while we wait. */
static bool idle(void)
{
    shim_request_reap();
    return shim_idups_move();
}

/** Called by the real library while it waits: move our engine. */
static void progress_hook(void)
{
    if (!shim_enter_at_once()) {
        return; /* the thread that is in there moves it */
    }
    bcs_progress(shim_context());
    shim_request_reap();
    shim_leave();
}

static int allgather(void *arg, const void *mine, size_t n_bytes, void *all_out)
{
    (void)arg;
    return shim_real.Allgather(mine, (int)n_bytes, shim_handles.byte, all_out,
                               (int)n_bytes, shim_handles.byte,
                               shim_handles.comm_world) == MPI_SUCCESS
               ? 0
               : -EIO;
}

static int gather(void *arg, const void *mine, size_t n_bytes, void *all_out)
{
    (void)arg;
    return shim_real.Gather(mine, (int)n_bytes, shim_handles.byte, all_out,
                            (int)n_bytes, shim_handles.byte, 0,
                            shim_handles.comm_world) == MPI_SUCCESS
               ? 0
               : -EIO;
}

static int bcast(void *arg, void *data, size_t n_bytes)
{
    (void)arg;
    return shim_real.Bcast(data, (int)n_bytes, shim_handles.byte, 0,
                           shim_handles.comm_world) == MPI_SUCCESS
               ? 0
               : -EIO;
}

/** Attach this process; collective over MPI_COMM_WORLD. */
static int attach(struct nic_config *config, const struct mds_config *mds)
{
    struct bcs_bootstrap bootstrap = {
        .allgather = allgather, .gather = gather, .bcast = bcast};
    struct bcs_hooks hooks = {
        .idle = idle,
        .move_external = shim_progress_real,
        .name_group = shim_comm_name_group,
        .name_call = shim_assemble_name,
        .find_call = shim_call_place,
        .describe = shim_standing_describe,
        .has_others = shim_standing_has_others,
        .end_job = shim_error_end_job,
    };
    struct bcs_port_map *map;
    int rank, size, rc;

    shim_real.Comm_rank(shim_handles.comm_world, &rank);
    shim_real.Comm_size(shim_handles.comm_world, &size);
    bootstrap.rank = (uint32_t)rank;
    bootstrap.size = (uint32_t)size;
    bootstrap.n_near = bcs_mapping_n_near();
    rc = bcs_mapping_find(&bootstrap, config, &map);
    if (rc < 0) {
        return rc;
    }
    shim_monitor_prepare(mds, &bootstrap, map, config);
    if (shim_is_threaded()) {
        shim_door_add_hooks(&hooks);
    }
    rc = bcs_attach(&bootstrap, config, map, &hooks, &shim_state.context);
    if (rc < 0) {
        shim_monitor_undo();
    }
    return rc;
}

/** Check the whole configuration; a bad one ends the program before it starts. */
static void check_variables(void)
{
    char error[512];

    if (bcs_variables_check(error, sizeof(error)) < 0) {
        bcs_job_error("%s", error);
        exit(EXIT_FAILURE);
    }
}

/** Start to look at what the program does wrong. */
static void start_referee(const struct nic_config *nic)
{
    if ((nic->lint != 0 || nic->watch != 0) && shim_state.callers == NULL) {
        shim_caller_setup();
    }
    if ((nic->lint != 0 && shim_lint_start() < 0) ||
        (nic->watch != 0 && shim_buffers_start() < 0)) {
        bcs_job_error("no memory for BCS_REFEREE_LINT or BCS_REFEREE_BUFFERS");
        shim_real.Abort(shim_handles.comm_world, EXIT_FAILURE);
    }
    shim_watch();
}

/** The real library is up: start ours. @param before the threads that there were before
 *  it began */
static void start(const struct bcs_tasks *before)
{
    char error[512];
    struct nic_config nic = {0};
    struct mds_config mds;
    struct bcs_log_config log;
    struct bcs_tasks tasks;
    MPI_Comm parent;
    int provided;
    int rc = 0;

    if (bcs_config_read(&nic_config_table, &nic, error, sizeof(error)) < 0 ||
        bcs_config_read(&mds_config_table, &mds, error, sizeof(error)) < 0 ||
        bcs_config_read(&bcs_log_config_table, &log, error, sizeof(error)) < 0) {
        rc = -EINVAL; /* cannot be: check_variables has read the same */
    } else {
        bcs_log_setup((enum bcs_log_level)log.level, shim_world_rank());
    }
    shim_real.Query_thread(&provided);
    shim_door_open(provided);
    shim_place_finder_setup(&nic);
    rc = rc < 0 ? rc : attach(&nic, &mds);
    rc = rc < 0 ? rc : shim_request_setup();
    rc = rc < 0 ? rc : shim_datatype_setup();
    rc = rc < 0 ? rc : shim_op_setup();
    rc = rc < 0 ? rc : shim_comm_setup();
    rc = rc < 0 ? rc : shim_ending_watch();
    if (rc < 0) {
        bcs_job_error("MPI_Init: %s", strerror(-rc));
        shim_real.Abort(shim_handles.comm_world, EXIT_FAILURE);
    }
    if (shim_real.Comm_get_parent(&parent) == MPI_SUCCESS &&
        parent != shim_handles.comm_null) {
        shim_pass_connected();
    }
    if (shim_progress_hook_install(progress_hook) < 0) {
        bcs_notice(BCS_NOTICE_NO_HOOK, "this MPI library has no progress hook");
    }
    shim_monitor_start(&mds);
    start_referee(&nic);
    shim_state.forked.in_child = shim_gate_forbid;
    bcs_forked_watch(&shim_state.forked);
    tasks = bcs_tasks_since(before);
    bcs_stand_set_tasks(shim_context(), &tasks);
    shim_gate_open();
}

int shim_Init(int *argc, char ***argv)
{
    const struct bcs_tasks before = bcs_tasks_list();
    int rc;

    check_variables();
    rc = shim_real.Init(argc, argv);
    if (rc == MPI_SUCCESS) {
        start(&before);
    }
    return rc;
}

int shim_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    const struct bcs_tasks before = bcs_tasks_list();
    int rc;

    check_variables();
    rc = shim_real.Init_thread(argc, argv, required, provided);
    if (rc == MPI_SUCCESS) {
        start(&before);
    }
    return rc;
}

int shim_Finalize(void)
{
    int rc;

    if (bcs_forked_is_child()) {
        bcs_forked_tell("MPI_Finalize");
        return MPI_SUCCESS;
    }
    if (shim_context() == NULL) {
        return shim_real.Finalize();
    }
    shim_monitor_stop();
    shim_enter();
    shim_state.is_ending = true;
    shim_request_drain();
    shim_leave();
    shim_pack_teardown();
    shim_outside_begin();
    /* Attributes of MPI_COMM_SELF are deleted in there, and may still communicate; ours
     * is the last, and writes the report (ending.c). */
    rc = shim_real.Finalize();
    shim_outside_end();
    shim_progress_hook_remove();
    bcs_forked_unwatch(&shim_state.forked);
    shim_gate_close();
    shim_comm_teardown();
    shim_request_teardown();
    shim_op_teardown();
    shim_datatype_teardown();
    bcs_detach(shim_context());
    shim_state.context = NULL;
    shim_place_finder_teardown();
    shim_monitor_close();
    return rc;
}

int shim_Abort(MPI_Comm comm, int errorcode)
{
    return shim_error_abort(comm, errorcode);
}
