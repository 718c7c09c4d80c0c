/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See job_record.h. Processes exchange by the bootstrap: before they attach there is
 * nothing else, and at the end nothing of it is in a slice.
 */
#include "libbcs/api/job_record.h"

#include "libbcs/api/attach.h"
#include "libbcs/api/context/context.h"
#include "libbcs/api/recorded.h"
#include "libbcs/api/slice_files.h"
#include "libbcs/fabric/ring/port_map.h"
#include "libbcs/session/meeting.h"
#include "mds/recorder.h"

/** Have slices be recorded in files of the folder. @return 0 or -ENOMEM */
static int open_files(const struct mds_config *config, const struct bcs_port_map *map,
                      struct nic_config *nic, struct bcs_job_record *record)
{
    const struct bcs_slice_files_plan plan = {
        .folder = bcs_recorder_folder(record->recorder),
        .config = config,
        .nic = nic,
        .map = map,
        .bootstrap = record->bootstrap,
    };
    int rc = bcs_slice_files_open(&plan, &record->files);

    if (rc == 0) {
        nic->record.places = bcs_slice_files_places(record->files);
    }
    return rc;
}

int bcs_job_record_prepare(const struct mds_config *config,
                           const struct bcs_bootstrap *bootstrap,
                           const struct bcs_port_map *map, struct nic_config *nic,
                           struct bcs_job_record *record_out)
{
    struct bcs_job_record record = {.bootstrap = *bootstrap};
    int rc;

    bcs_record_set_up(config, map, bootstrap->rank, nic);
    rc = bcs_recorder_open(config, bootstrap, map->n_nodes, &record.recorder);
    if (rc == 0 && nic->record.n_spans > 0 &&
        bcs_recorder_folder(record.recorder) != NULL) {
        rc = open_files(config, map, nic, &record);
    }
    if (rc < 0) {
        bcs_job_record_undo(&record);
        return rc;
    }
    *record_out = record;
    return 0;
}

void bcs_job_record_undo(struct bcs_job_record *record)
{
    bcs_slice_files_undo(record->files);
    bcs_slice_files_close(record->files);
    bcs_recorder_undo(record->recorder);
    *record = (struct bcs_job_record){0};
}

/** The report of a deadlock goes into the run's folder, too. By the process that the
 *  referee runs in. */
static void report_into(const char *folder, struct bcs_context *context)
{
    char path[MDS_PATH_BYTES];
    int rc = mds_deadlock_path(folder, path);

    if (rc == 0) {
        rc = bcs_context_report_into(context, path);
    }
    if (rc < 0) {
        mds_recorder_tell_unwritten(MDS_DEADLOCK_NAME, rc);
    }
}

void bcs_job_record_start(const struct bcs_job_record *record,
                          struct bcs_context *context, const struct mds_config *config,
                          struct mmds_plan *plan)
{
    const char *folder = bcs_recorder_folder(record->recorder);

    bcs_slice_files_begin(record->files, context);
    if (folder != NULL && context->port == context->meeting.first) {
        report_into(folder, context);
    }
    plan->slice = bcs_context_slice_number(context);
    plan->stamps = bcs_context_stamps(context);
    plan->begins = bcs_context_slice_begins(context);
    bcs_recorder_begin(record->recorder, config, plan);
}

void bcs_job_record_stop(const struct bcs_job_record *record)
{
    bcs_recorder_stop(record->recorder);
}

/** Have the last slice over on all nodes, when nobody posts any more. Collective.
 *  @return as bcs_meet_again */
static int end_slices(const struct bcs_job_record *record,
                      const struct bcs_context *context)
{
    int rc = bcs_meet_again(&record->bootstrap, 0);

    if (rc < 0) {
        return rc;
    }
    if (context->rank == 0) {
        bcs_context_end_slices(context);
    }
    return bcs_meet_again(&record->bootstrap, 0);
}

/** Write slices, and sum them up for the table. Collective. @return 0, or <0: some
 *  process has not come */
static int write_slices(const struct bcs_job_record *record,
                        const struct bcs_context *context, struct emds_summary *summary)
{
    int rc = end_slices(record, context);

    if (rc == 0 && record->files != NULL) {
        rc = bcs_slice_files_write(record->files, context);
    }
    if (rc == 0 && context->rank == 0) {
        bcs_context_sum_slices(context, summary);
    }
    return rc;
}

struct bcs_recorder_end bcs_job_record_slices(const struct bcs_job_record *record,
                                              const struct bcs_context *context, int rc)
{
    struct bcs_recorder_end end = {
        .is_alone = rc != 0,
        .n_slices = bcs_context_slices(context),
        .strobes = bcs_context_recorded_strobes(context),
    };

    if (!end.is_alone && context->config.record.n_spans > 0) {
        end.is_alone = write_slices(record, context, &end.slices) < 0;
    }
    return end;
}

void bcs_job_record_end(struct bcs_job_record *record,
                        const struct bcs_recorder_end *end)
{
    bcs_recorder_end(record->recorder, end);
    record->recorder = NULL;
}

void bcs_job_record_close(struct bcs_job_record *record)
{
    bcs_slice_files_close(record->files);
    record->files = NULL;
}
