/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See run_recorder.h. Processes exchange by the bootstrap, as while they enter: what
 * calls them to the end of a job differs between those who use this, and nothing of it
 * is recorded or counted.
 */
#include "libbcs/session/run_recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/fabric/base/log.h"
#include "libbcs/session/meeting.h"
#include "libbcs/session/variables.h"
#include "mds/recorder.h"
#include "mds/selection.h"

struct bcs_recorder {
    struct mds_recorder mds;
    struct bcs_bootstrap bootstrap;
    bool has_calls;           /* they are recorded, on some ranks */
    const char *const *names; /* of the primitives */
    uint32_t n_primitives;
    int error; /* why there is no folder, at the first rank */
};

/** Gather at rank 0. @param all  NULL elsewhere. @return 0 or -errno */
static int gather(void *arg, const void *mine, size_t n_bytes, void *all)
{
    const struct bcs_bootstrap *bootstrap = arg;
    int rc = -ENOMEM;
    void *room;

    if (bootstrap->gather != NULL) {
        return bootstrap->gather(bootstrap->arg, mine, n_bytes, all);
    }
    room = all == NULL ? malloc(bootstrap->size * n_bytes) : all;
    if (room != NULL) {
        rc = bootstrap->allgather(bootstrap->arg, mine, n_bytes, room);
    }
    if (all == NULL) {
        free(room);
    }
    return rc;
}

/** Give what rank 0 has to all. @return 0 or -errno */
static int share(const struct bcs_bootstrap *bootstrap, void *data, size_t n_bytes)
{
    int rc = -ENOMEM;
    char *all;

    if (bootstrap->bcast != NULL) {
        return bootstrap->bcast(bootstrap->arg, data, n_bytes);
    }
    all = calloc(bootstrap->size, n_bytes);
    if (all != NULL) {
        rc = bootstrap->allgather(bootstrap->arg, data, n_bytes, all);
    }
    if (rc == 0) {
        memcpy(data, all, n_bytes);
    }
    free(all);
    return rc;
}

/** The first rank makes the folder of the run, and all learn its name. */
static int make_folder(struct bcs_recorder *recorder, const char *parent)
{
    const struct bcs_bootstrap *bootstrap = &recorder->bootstrap;

    if (bootstrap->rank == 0) {
        recorder->error = mds_recorder_make_folder(&recorder->mds, parent);
    }
    return share(bootstrap, recorder->mds.folder, sizeof(recorder->mds.folder));
}

int bcs_recorder_open(const struct mds_config *config,
                      const struct bcs_bootstrap *bootstrap, uint32_t n_nodes,
                      struct bcs_recorder **recorder_out)
{
    struct bcs_recorder *recorder;

    *recorder_out = NULL;
    if (config->mode == MDS_MODE_OFF) {
        return 0;
    }
    recorder = calloc(1, sizeof(*recorder));
    if (recorder == NULL) {
        bcs_error("no memory for the monitor");
        return -ENOMEM;
    }
    recorder->bootstrap = *bootstrap;
    recorder->mds.manifest = (struct mds_manifest){
        .n_ranks = bootstrap->size,
        .n_nodes = n_nodes,
    };
    recorder->mds.manifest.tables =
        bcs_variables_tables(&recorder->mds.manifest.n_tables);
    if (config->folder[0] != '\0' && make_folder(recorder, config->folder) < 0) {
        recorder->mds.folder[0] = '\0';
    }
    *recorder_out = recorder;
    return 0;
}

const char *bcs_recorder_folder(const struct bcs_recorder *recorder)
{
    return recorder == NULL || recorder->mds.folder[0] == '\0' ? NULL
                                                               : recorder->mds.folder;
}

void bcs_recorder_begin(struct bcs_recorder *recorder, const struct mds_config *config,
                        struct mmds_plan *plan)
{
    if (recorder == NULL) {
        return;
    }
    if (recorder->error < 0) {
        mds_recorder_tell_unwritten(config->folder, recorder->error);
    }
    recorder->has_calls = mds_records_calls(config);
    recorder->names = plan->names;
    recorder->n_primitives = plan->n_primitives;
    plan->rank = recorder->bootstrap.rank;
    if (recorder->has_calls && mds_ranks_has(config->ranks, plan->rank)) {
        mds_recorder_start(&recorder->mds, plan, config);
    }
}

struct bcs_recorder *bcs_recorder_start(const struct bcs_entry *entry, uint32_t n_nodes,
                                        struct mmds_plan *plan)
{
    struct bcs_recorder *recorder = NULL;

    if (mds_records_calls(&entry->settings.mds)) {
        bcs_recorder_open(&entry->settings.mds, &entry->bootstrap, n_nodes, &recorder);
    }
    bcs_recorder_begin(recorder, &entry->settings.mds, plan);
    return recorder;
}

void bcs_recorder_undo(struct bcs_recorder *recorder)
{
    if (recorder == NULL) {
        return;
    }
    if (recorder->mds.folder[0] != '\0') {
        if (recorder->bootstrap.rank == 0) {
            mds_run_folder_remove(recorder->mds.folder);
        }
        bcs_meet_again(&recorder->bootstrap, 0); /* before any of them ends the job */
    }
    free(recorder);
}

struct mds_collect *bcs_recorder_collect(const struct bcs_recorder *recorder)
{
    return recorder == NULL ? NULL : recorder->mds.collect;
}

void bcs_recorder_stop(struct bcs_recorder *recorder)
{
    if (recorder != NULL && recorder->mds.collect != NULL) {
        mmds_stop(recorder->mds.collect);
    }
}

/** Print tables of what all ranks have recorded. After it all have written. */
static void print(struct bcs_recorder *recorder, const struct bcs_recorder_end *end)
{
    struct mmds_summary summary = {0};
    const struct mmds_report report = {
        .names = recorder->names,
        .n_primitives = recorder->n_primitives,
        .rank = recorder->bootstrap.rank,
        .n_ranks = recorder->bootstrap.size,
        .is_brief = recorder->mds.folder[0] != '\0',
        .gather = gather,
        .arg = &recorder->bootstrap,
        .out = stderr,
    };
    int rc;

    if (recorder->mds.collect != NULL) {
        mmds_summarize(recorder->mds.collect, &summary);
        if (end->n_passed != NULL) {
            memcpy(summary.passed, end->n_passed,
                   recorder->n_primitives * sizeof(*summary.passed));
        }
    }
    summary.n_slices = end->n_slices;
    summary.strobes = end->strobes;
    rc = mmds_report(&report, &summary);
    if (rc < 0) {
        bcs_error("the table of what was recorded is not printed: %s", strerror(-rc));
    }
}

void bcs_recorder_write(struct bcs_recorder *recorder,
                        const struct bcs_recorder_end *end)
{
    struct mds_process process = {
        .end = MDS_DUMP_END_FINALIZE,
        .n_slices = end->n_slices,
        .n_passed = end->n_passed,
    };

    if (bcs_recorder_folder(recorder) != NULL && recorder->mds.collect != NULL) {
        mds_recorder_write(&recorder->mds, recorder->bootstrap.rank, &process);
    }
}

void bcs_recorder_leave(struct bcs_recorder *recorder, bool is_last)
{
    if (recorder == NULL) {
        return;
    }
    if (is_last && bcs_recorder_folder(recorder) != NULL) {
        mds_recorder_tell_end(&recorder->mds);
    }
    mds_recorder_drop(&recorder->mds);
    free(recorder);
}

void bcs_recorder_end(struct bcs_recorder *recorder, const struct bcs_recorder_end *end)
{
    if (recorder == NULL) {
        return;
    }
    if (end->is_alone) {
        recorder->mds.live[0] = '\0'; /* its file stays */
    } else {
        bcs_recorder_write(recorder, end);
        if (recorder->has_calls) {
            print(recorder, end);
        }
        if (recorder->bootstrap.rank == 0) {
            emds_print(stderr, &end->slices);
        }
    }
    bcs_recorder_leave(recorder, !end->is_alone && recorder->bootstrap.rank == 0);
}
