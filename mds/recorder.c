/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See recorder.h. Called at the begin and at the end of a job, by one thread of each
 * process.
 */
#include "mds/recorder.h"

#include <errno.h>
#include <string.h>

#include "libbcs/fabric/base/log.h"
#include "libbcs/fabric/base/notice.h"
#include "mds/live.h"
#include "mds/selection.h"

void mds_recorder_tell_unwritten(const char *what, int rc)
{
    bcs_notice(BCS_NOTICE_UNWRITTEN, "%s: %s", what, strerror(-rc));
}

int mds_recorder_make_folder(struct mds_recorder *recorder, const char *parent)
{
    int rc = mds_run_folder_make(parent, recorder->folder);

    if (rc == 0) {
        recorder->manifest.state = "running";
        rc = mds_manifest_write(&recorder->manifest, recorder->folder);
    }
    if (rc < 0) {
        recorder->folder[0] = '\0';
    }
    return rc;
}

/** Start in the folder's file. @return 0 or -errno; told */
static int start_in_file(struct mds_recorder *recorder, struct mmds_plan *plan)
{
    int rc = -ENOENT;

    if (recorder->folder[0] != '\0' &&
        mds_live_path(recorder->folder, plan->rank, recorder->live) == 0) {
        plan->path = recorder->live;
        rc = mmds_start(plan, &recorder->collect);
        if (rc < 0) {
            mds_recorder_tell_unwritten(recorder->live, rc);
        }
    }
    if (rc < 0) {
        recorder->live[0] = '\0';
    }
    return rc;
}

void mds_recorder_start(struct mds_recorder *recorder, struct mmds_plan *plan,
                        const struct mds_config *config)
{
    int rc;

    plan->shape = (struct mds_shape){
        .n_ranks = recorder->manifest.n_ranks,
        .bits = (uint32_t)config->bits,
        .n_events = config->mode == MDS_MODE_TRACE ? (uint32_t)config->n_events : 0,
    };
    rc = start_in_file(recorder, plan);
    if (rc < 0) {
        plan->path = NULL;
        rc = mmds_start(plan, &recorder->collect);
    }
    if (rc < 0) {
        bcs_error("no memory for the monitor: this rank is missing in its report");
        recorder->collect = NULL;
        return;
    }
    for (uint32_t i = 0; i < plan->n_primitives; i++) {
        if (mds_names_has(config->primitives, plan->names[i])) {
            mmds_distribute(recorder->collect, i);
        }
    }
}

void mds_recorder_write(struct mds_recorder *recorder, uint32_t rank,
                        struct mds_process *process)
{
    char path[MDS_PATH_BYTES];
    int rc = mds_process_path(recorder->folder, rank, path);

    process->collect = recorder->collect;
    if (rc == 0) {
        rc = mds_dump_process_write(process, path);
    }
    if (rc < 0) {
        mds_recorder_tell_unwritten(path, rc);
        recorder->live[0] = '\0'; /* it stays, and has the same */
    }
}

void mds_recorder_tell_end(struct mds_recorder *recorder)
{
    int rc = mds_manifest_end(recorder->folder);

    if (rc < 0) {
        mds_recorder_tell_unwritten(recorder->folder, rc);
    } else {
        bcs_warn("what was recorded is in %s; bcs-mds summary shows it",
                 recorder->folder);
    }
}

void mds_recorder_drop(struct mds_recorder *recorder)
{
    mds_live_drop(recorder->collect, recorder->live[0] == '\0' ? NULL : recorder->live);
    recorder->collect = NULL;
    recorder->folder[0] = '\0';
}
