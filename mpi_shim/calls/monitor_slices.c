/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files that slices are recorded in, and what is written of them; see the header. Each process maps
 * all of them, as it may run the engine of any node: so either all processes have them, or none.
 */
#include "mpi_shim/calls/monitor_slices.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "libbcs/api/recorded.h"
#include "libbcs/base/log_job.h"
#include "mds/dump_node.h"
#include "mds/live_slices.h"
#include "mds/recorder.h"
#include "mpi_shim/real/handles.h"
#include "mpi_shim/real/real.h"
#include "mpi_shim/real/state.h"

struct shim_slices {
    const char *folder;     /* of the run */
    struct mds_slices what; /* of this process's node */
    uint32_t rank, n_nodes;
    int error; /* why there are no files, in the process that knows */
    /* By node, and then of the strobe sender; NULL: nothing is recorded there. */
    struct mds_live_slices **files;
    char **places; /* NULL: some process has no files */
};

/** The path of a file that is recorded in: number n_nodes is that of the strobe sender. */
static int path_of(const struct shim_slices *slices, uint32_t number,
                   char path_out[MDS_PATH_BYTES])
{
    return number == slices->n_nodes
               ? mds_global_live_path(slices->folder, path_out)
               : mds_node_live_path(slices->folder, number, path_out);
}

/** What the file of a node is of, or, as number n_nodes, that of the strobe sender. metrics of the
 *  recorder's own is 0 if it has none. */
static struct mds_live_slices describe(const struct shim_slices_plan *plan,
                                       uint32_t n_nodes, uint32_t number)
{
    bool is_global = number == n_nodes;
    uint32_t node_ranks = nic_config_node_ranks(plan->nic, plan->n_ranks);
    uint32_t node = is_global ? 0 : number, first = node * node_ranks;
    uint32_t n_rest = plan->n_ranks - first;
    struct mds_slices what = mds_slices_of(plan->config, node);

    if (is_global && n_nodes == 1 && plan->nic->strobe == NIC_STROBE_DEMAND) {
        what.metrics = 0; /* there is no strobe sender */
    }
    return (struct mds_live_slices){
        .n_spans = what.n_spans,
        .metrics = what.metrics,
        .is_global = is_global,
        .n_monitors = is_global ? 1 : bcs_recorders_of_node(plan->nic, plan->n_ranks),
        .facts =
            {
                .node = node,
                .n_nodes = n_nodes,
                .first_rank = first,
                .n_ranks = is_global             ? plan->n_ranks
                           : n_rest < node_ranks ? n_rest
                                                 : node_ranks,
                .slice = plan->nic->slice_ns,
                .window_first = what.first,
                .window_slices = what.n_slices,
            },
    };
}

/** Whether anything is recorded in a file. */
static bool is_wanted(const struct mds_live_slices *file)
{
    bool is_global = file->is_global != 0;
    uint64_t own = (UINT64_C(1) << bcs_metrics_end(is_global)) -
                   (UINT64_C(1) << bcs_metrics_first(is_global));

    return (file->metrics & own) != 0;
}

/** Take away the files of the first n recorders. */
static void remove_files(const struct shim_slices *slices, uint32_t n)
{
    char path[MDS_PATH_BYTES];

    for (uint32_t i = 0; i < n; i++) {
        if (path_of(slices, i, path) == 0) {
            unlink(path);
        }
    }
}

/** Make or map the file of a recorder, if anything is recorded in it. @return 0 or -errno */
static int prepare_file(const struct shim_slices *slices,
                        const struct shim_slices_plan *plan, uint32_t number,
                        bool is_new)
{
    struct mds_live_slices file = describe(plan, slices->n_nodes, number);
    char path[MDS_PATH_BYTES];
    int rc;

    if (!is_wanted(&file)) {
        return 0;
    }
    rc = path_of(slices, number, path);
    if (rc < 0) {
        return rc;
    }
    return is_new ? mds_live_slices_make(&file, path)
                  : mds_live_slices_map(path, &slices->files[number]);
}

/** Make all files, or none. */
static int make_files(const struct shim_slices *slices,
                      const struct shim_slices_plan *plan)
{
    int rc = 0;

    for (uint32_t i = 0; i <= slices->n_nodes && rc == 0; i++) {
        rc = prepare_file(slices, plan, i, true);
        if (rc < 0) {
            remove_files(slices, i);
        }
    }
    return rc;
}

static int map_files(const struct shim_slices *slices,
                     const struct shim_slices_plan *plan)
{
    int rc = 0;

    for (uint32_t i = 0; i <= slices->n_nodes && rc == 0; i++) {
        rc = prepare_file(slices, plan, i, false);
    }
    return rc;
}

static void unmap_files(const struct shim_slices *slices)
{
    for (uint32_t i = 0; slices->files != NULL && i <= slices->n_nodes; i++) {
        mds_live_slices_unmap(slices->files[i]);
        slices->files[i] = NULL;
    }
}

/** Memory of zeros; without it the job ends. */
static void *room_for(size_t n, size_t n_bytes)
{
    void *memory = calloc(n, n_bytes);

    if (memory == NULL) {
        bcs_job_error("no memory for the monitor");
        shim_real.Abort(shim_handles.comm_world, EXIT_FAILURE);
    }
    return memory;
}

/** Whether all processes are right. Collective. */
static bool are_all(bool is_right, uint32_t n_ranks)
{
    char mine = is_right, *all = room_for(n_ranks, 1);
    bool are_right =
        shim_real.Allgather(&mine, 1, shim_handles.byte, all, 1, shim_handles.byte,
                            shim_handles.comm_world) == MPI_SUCCESS;

    for (uint32_t i = 0; i < n_ranks; i++) {
        are_right &= all[i] != 0;
    }
    free(all);
    return are_right;
}

struct shim_slices *shim_slices_open(const struct shim_slices_plan *plan)
{
    struct shim_slices *slices = room_for(1, sizeof(*slices));
    uint32_t node_ranks = nic_config_node_ranks(plan->nic, plan->n_ranks);

    slices->folder = plan->folder;
    slices->rank = plan->rank;
    slices->n_nodes = (plan->n_ranks - 1) / node_ranks + 1;
    slices->what = mds_slices_of(plan->config, plan->rank / node_ranks);
    slices->files = room_for(slices->n_nodes + 1, sizeof(*slices->files));
    slices->places = room_for(slices->n_nodes + 1, sizeof(*slices->places));
    slices->error = plan->rank == 0 ? make_files(slices, plan) : 0;
    if (are_all(slices->error == 0, plan->n_ranks)) {
        slices->error = map_files(slices, plan);
        if (are_all(slices->error == 0, plan->n_ranks)) {
            for (uint32_t i = 0; i <= slices->n_nodes; i++) {
                slices->places[i] = slices->files[i] == NULL
                                        ? NULL
                                        : mds_live_slices_place(slices->files[i]);
            }
            return slices;
        }
        shim_slices_undo(slices);
    }
    free(slices->places);
    slices->places = NULL;
    return slices;
}

char *const *shim_slices_places(const struct shim_slices *slices)
{
    return slices->places;
}

/** Whether this process is the first one of its node. */
static bool is_first_of_node(void)
{
    return bcs_context_seat(shim_context()).first_rank ==
           bcs_context_rank(shim_context());
}

/** Number of the file that this process begins and ends: of its node, or of all. */
static uint32_t number_of(const struct shim_slices *slices, bool is_global)
{
    return is_global ? slices->n_nodes : bcs_context_seat(shim_context()).node;
}

static void begin(const struct shim_slices *slices, bool is_global)
{
    const struct bcs_recording_begin recording =
        bcs_context_recording_begin(shim_context());
    struct mds_live_slices *file = slices->files[number_of(slices, is_global)];

    if (file != NULL) {
        mds_live_slices_begin(file, recording.began, recording.interval_ticks);
    }
}

void shim_slices_begin(const struct shim_slices *slices)
{
    if (slices != NULL && slices->error < 0) {
        mds_recorder_tell_unwritten(slices->folder, slices->error);
    }
    if (slices != NULL && is_first_of_node()) {
        begin(slices, false);
    }
    if (slices != NULL && slices->rank == 0) {
        begin(slices, true);
    }
}

/** Write the file of the slices of this rank's node, or of all nodes. @return 0, also if there is
 *  nothing to be written; or -errno */
static int write_file(const struct shim_slices *slices, bool is_global)
{
    struct bcs_seat seat = bcs_context_seat(shim_context());
    struct bcs_recorded recorded;
    struct mds_node node = {.is_global = is_global, .metrics = slices->what.metrics};
    char path[MDS_PATH_BYTES];
    int rc = bcs_context_recorded(shim_context(), seat.node, is_global, &recorded);

    if (rc < 0) {
        return rc == -ENOENT ? 0 : rc;
    }
    if (is_global && seat.n_nodes == 1 && recorded.interval_ns > 0) {
        free(recorded.spans); /* there is no strobe sender */
        return 0;
    }
    node.spans = recorded.spans;
    node.n_spans = recorded.n;
    node.facts = (struct mds_dump_node){
        .node = seat.node,
        .n_nodes = seat.n_nodes,
        .first_rank = seat.first_rank,
        .n_ranks = is_global ? bcs_context_size(shim_context()) : seat.n_ranks,
        .began_monotonic = recorded.began_ns,
        .run = recorded.run_ns,
        .slice = recorded.slice_ns,
        .interval = recorded.interval_ns,
        .window_first = slices->what.first,
        .window_slices = slices->what.n_slices,
        .shift = (uint32_t)recorded.shift,
        .end = MDS_DUMP_END_FINALIZE,
    };
    rc = is_global ? mds_global_path(slices->folder, path)
                   : mds_node_path(slices->folder, seat.node, path);
    rc = rc == 0 ? mds_dump_node_write(&node, path) : rc;
    free(recorded.spans);
    return rc;
}

/** Write a file, in place of the one that was recorded in. */
static void replace(const struct shim_slices *slices, bool is_global)
{
    uint32_t number = number_of(slices, is_global);
    char live[MDS_PATH_BYTES];
    int rc = write_file(slices, is_global);

    if (rc < 0) {
        mds_recorder_tell_unwritten(slices->folder,
                                    rc); /* that one stays, and has the same */
    } else if (slices->files[number] != NULL && path_of(slices, number, live) == 0) {
        unlink(live);
    }
}

void shim_slices_write(struct shim_slices *slices)
{
    if (is_first_of_node()) {
        replace(slices, false);
    }
    if (slices->rank == 0) {
        replace(slices, true);
    }
    shim_real.Barrier(shim_handles.comm_world);
}

void shim_slices_undo(struct shim_slices *slices)
{
    unmap_files(slices);
    if (slices->rank == 0) {
        remove_files(slices, slices->n_nodes + 1);
    }
}

void shim_slices_close(struct shim_slices *slices)
{
    if (slices == NULL) {
        return;
    }
    unmap_files(slices);
    free(slices->files);
    free(slices->places);
    free(slices);
}
