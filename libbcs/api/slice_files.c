/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files that slices are recorded in, and what is written of them; see the header. Each
 * process maps all of them, as it may run the engine of any node: so either all
 * processes have them, or none.
 */
#include "libbcs/api/slice_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libbcs/api/attach.h"
#include "libbcs/api/recorded.h"
#include "libbcs/fabric/base/log.h"
#include "libbcs/fabric/ring/port_map.h"
#include "libbcs/session/meeting.h"
#include "mds/dump_node.h"
#include "mds/live_slices.h"
#include "mds/recorder.h"
#include "nic_threads/nic_config.h"

struct bcs_slice_files {
    char folder[MDS_PATH_BYTES]; /* of the run */
    struct mds_slices what;      /* of this process's node */
    struct bcs_bootstrap bootstrap;
    uint32_t n_nodes;
    int error; /* why there are no files, in the process that knows */
    /* By node, and then of the strobe sender; NULL: nothing is recorded there. */
    struct mds_live_slices **files;
    char **places; /* NULL: some process has no files */
};

/** The path of a file that is recorded in: number n_nodes is that of the strobe
 *  sender. */
static int path_of(const struct bcs_slice_files *files, uint32_t number,
                   char path_out[MDS_PATH_BYTES])
{
    return number == files->n_nodes
               ? mds_global_live_path(files->folder, path_out)
               : mds_node_live_path(files->folder, number, path_out);
}

/** What the file of a node is of, or, as number n_nodes, that of the strobe sender.
 *  metrics of the recorder's own is 0 if it has none. */
static struct mds_live_slices describe(const struct bcs_slice_files_plan *plan,
                                       uint32_t n_nodes, uint32_t number)
{
    bool is_global = number == n_nodes;
    uint32_t node = is_global ? 0 : number;
    struct mds_slices what = mds_slices_of(plan->config, node);

    if (is_global && n_nodes == 1 && plan->nic->strobe == NIC_STROBE_DEMAND) {
        what.metrics = 0; /* there is no strobe sender */
    }
    return (struct mds_live_slices){
        .n_spans = what.n_spans,
        .metrics = what.metrics,
        .is_global = is_global,
        .n_monitors = is_global ? 1 : bcs_recorders_of_node(plan->nic, plan->map),
        .facts =
            {
                .node = node,
                .n_nodes = n_nodes,
                .first_rank = bcs_first_rank_of(plan->map, node),
                .n_ranks = is_global ? plan->map->n_ranks : plan->map->n_local[node],
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
static void remove_files(const struct bcs_slice_files *files, uint32_t n)
{
    char path[MDS_PATH_BYTES];

    for (uint32_t i = 0; i < n; i++) {
        if (path_of(files, i, path) == 0) {
            unlink(path);
        }
    }
}

/** Make or map the file of a recorder, if anything is recorded in it. @return 0 or
 *  -errno */
static int prepare_file(const struct bcs_slice_files *files,
                        const struct bcs_slice_files_plan *plan, uint32_t number,
                        bool is_new)
{
    struct mds_live_slices file = describe(plan, files->n_nodes, number);
    char path[MDS_PATH_BYTES];
    int rc;

    if (!is_wanted(&file)) {
        return 0;
    }
    rc = path_of(files, number, path);
    if (rc < 0) {
        return rc;
    }
    return is_new ? mds_live_slices_make(&file, path)
                  : mds_live_slices_map(path, &files->files[number]);
}

/** Make all files, or none. */
static int make_files(const struct bcs_slice_files *files,
                      const struct bcs_slice_files_plan *plan)
{
    int rc = 0;

    for (uint32_t i = 0; i <= files->n_nodes && rc == 0; i++) {
        rc = prepare_file(files, plan, i, true);
        if (rc < 0) {
            remove_files(files, i);
        }
    }
    return rc;
}

static int map_files(const struct bcs_slice_files *files,
                     const struct bcs_slice_files_plan *plan)
{
    int rc = 0;

    for (uint32_t i = 0; i <= files->n_nodes && rc == 0; i++) {
        rc = prepare_file(files, plan, i, false);
    }
    return rc;
}

static void unmap_files(const struct bcs_slice_files *files)
{
    for (uint32_t i = 0; files->files != NULL && i <= files->n_nodes; i++) {
        mds_live_slices_unmap(files->files[i]);
        files->files[i] = NULL;
    }
}

/** Without files yet. @return NULL: no memory */
static struct bcs_slice_files *new_files(const struct bcs_slice_files_plan *plan)
{
    const struct bcs_bootstrap *bootstrap = &plan->bootstrap;
    uint32_t node = bcs_node_of_rank(plan->map, bootstrap->rank);
    struct bcs_slice_files *files = calloc(1, sizeof(*files));

    if (files == NULL) {
        return NULL;
    }
    strcpy(files->folder, plan->folder);
    files->bootstrap = *bootstrap;
    files->n_nodes = plan->map->n_nodes;
    files->what = mds_slices_of(plan->config, node);
    files->files = calloc(files->n_nodes + 1, sizeof(*files->files));
    files->places = calloc(files->n_nodes + 1, sizeof(*files->places));
    if (files->files == NULL || files->places == NULL) {
        bcs_slice_files_close(files);
        return NULL;
    }
    return files;
}

/** Where the engine is to record: behind the heads of the files. */
static void find_places(const struct bcs_slice_files *files)
{
    for (uint32_t i = 0; i <= files->n_nodes; i++) {
        files->places[i] =
            files->files[i] == NULL ? NULL : mds_live_slices_place(files->files[i]);
    }
}

int bcs_slice_files_open(const struct bcs_slice_files_plan *plan,
                         struct bcs_slice_files **files_out)
{
    struct bcs_slice_files *files = new_files(plan);

    if (files == NULL) {
        bcs_error("no memory for the files of slices");
        return -ENOMEM;
    }
    *files_out = files;
    files->error = plan->bootstrap.rank == 0 ? make_files(files, plan) : 0;
    if (bcs_meet_again(&files->bootstrap, files->error) == 0) {
        files->error = map_files(files, plan);
        if (bcs_meet_again(&files->bootstrap, files->error) == 0) {
            find_places(files);
            return 0;
        }
        bcs_slice_files_undo(files);
    }
    free(files->places);
    files->places = NULL;
    return 0;
}

char *const *bcs_slice_files_places(const struct bcs_slice_files *files)
{
    return files->places;
}

/** Whether this process is the first one of its node. */
static bool is_first_of_node(const struct bcs_context *context)
{
    return bcs_context_seat(context).first_rank == bcs_context_rank(context);
}

/** Number of the file that this process begins and ends: of its node, or of all. */
static uint32_t number_of(const struct bcs_slice_files *files,
                          const struct bcs_context *context, bool is_global)
{
    return is_global ? files->n_nodes : bcs_context_seat(context).node;
}

static void begin(const struct bcs_slice_files *files,
                  const struct bcs_context *context, bool is_global)
{
    const struct bcs_recording_begin recording = bcs_context_recording_begin(context);
    struct mds_live_slices *file = files->files[number_of(files, context, is_global)];

    if (file != NULL) {
        mds_live_slices_begin(file, recording.began, recording.interval_ticks);
    }
}

void bcs_slice_files_begin(const struct bcs_slice_files *files,
                           const struct bcs_context *context)
{
    if (files != NULL && files->error < 0) {
        mds_recorder_tell_unwritten(files->folder, files->error);
    }
    if (files != NULL && is_first_of_node(context)) {
        begin(files, context, false);
    }
    if (files != NULL && files->bootstrap.rank == 0) {
        begin(files, context, true);
    }
}

/** Write the file of the slices of this rank's node, or of all nodes. @return 0, also
 *  if there is nothing to be written; or -errno */
static int write_file(const struct bcs_slice_files *files,
                      const struct bcs_context *context, bool is_global)
{
    struct bcs_seat seat = bcs_context_seat(context);
    struct bcs_recorded recorded;
    struct mds_node node = {.is_global = is_global, .metrics = files->what.metrics};
    char path[MDS_PATH_BYTES];
    int rc = bcs_context_recorded(context, seat.node, is_global, &recorded);

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
        .n_ranks = is_global ? bcs_context_size(context) : seat.n_ranks,
        .began_monotonic = recorded.began_ns,
        .run = recorded.run_ns,
        .slice = recorded.slice_ns,
        .interval = recorded.interval_ns,
        .window_first = files->what.first,
        .window_slices = files->what.n_slices,
        .shift = (uint32_t)recorded.shift,
        .end = MDS_DUMP_END_FINALIZE,
    };
    rc = is_global ? mds_global_path(files->folder, path)
                   : mds_node_path(files->folder, seat.node, path);
    rc = rc == 0 ? mds_dump_node_write(&node, path) : rc;
    free(recorded.spans);
    return rc;
}

/** Write a file, in place of the one that was recorded in. */
static void replace(const struct bcs_slice_files *files,
                    const struct bcs_context *context, bool is_global)
{
    uint32_t number = number_of(files, context, is_global);
    char live[MDS_PATH_BYTES];
    int rc = write_file(files, context, is_global);

    if (rc < 0) {
        mds_recorder_tell_unwritten(files->folder,
                                    rc); /* that one stays, and has the same */
    } else if (files->files[number] != NULL && path_of(files, number, live) == 0) {
        unlink(live);
    }
}

int bcs_slice_files_write(const struct bcs_slice_files *files,
                          const struct bcs_context *context)
{
    if (is_first_of_node(context)) {
        replace(files, context, false);
    }
    if (files->bootstrap.rank == 0) {
        replace(files, context, true);
    }
    return bcs_meet_again(&files->bootstrap, 0);
}

void bcs_slice_files_undo(struct bcs_slice_files *files)
{
    if (files == NULL) {
        return;
    }
    unmap_files(files);
    if (files->bootstrap.rank == 0) {
        remove_files(files, files->n_nodes + 1);
    }
}

void bcs_slice_files_close(struct bcs_slice_files *files)
{
    if (files == NULL) {
        return;
    }
    unmap_files(files);
    free(files->files);
    free(files->places);
    free(files);
}
