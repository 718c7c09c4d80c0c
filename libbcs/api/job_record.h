/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the MDS records of a program that enters by bcs_init: its calls, and the slices of the
 * engine. Called by bcs_init and bcs_finalize, in their thread.
 */
#ifndef BCS_API_JOB_RECORD_H
#define BCS_API_JOB_RECORD_H

#include "libbcs/session/recorder.h"

struct bcs_context;
struct bcs_slice_files;

/** What is recorded of a process. All zero: nothing. */
struct bcs_job_record {
    struct bcs_recorder *recorder;  /* NULL: nothing */
    struct bcs_slice_files *files;  /* of slices; NULL: none are recorded in a folder */
    struct bcs_bootstrap bootstrap; /* by which processes exchange */
};

/**
 * Make ready what the settings ask for: the run's folder, and files for slices there. Before this
 * process attaches; collective, if there is to be a folder.
 *
 * @param entry  entry->settings.nic.record says then what the engine is to record
 * @return 0        end with bcs_job_record_end, or bcs_job_record_undo
 * @return -ENOMEM  here; logged
 */
int bcs_job_record_prepare(struct bcs_entry *entry, struct bcs_job_record *record_out);

/** Take back what was made ready: no process could attach. Collective, if there is a folder. */
void bcs_job_record_undo(struct bcs_job_record *record);

/** The process has attached: start recording. */
void bcs_job_record_start(const struct bcs_job_record *record,
                          struct bcs_context *context, const struct mds_config *config);

/** Stop recording calls: the process leaves its job. */
void bcs_job_record_stop(const struct bcs_job_record *record);

/**
 * Write the slices, or sum them up, while the context is still there. Collective, if slices are
 * recorded and the process is not alone.
 *
 * @param rc  of the last call of the job; not 0: something has gone wrong, and the process leaves
 *            alone: then what is recorded in files stays there, as of a job that was ended
 */
struct bcs_recorder_end bcs_job_record_slices(const struct bcs_job_record *record,
                                              const struct bcs_context *context,
                                              int rc);

/** Write or print the rest, and free all. The process has detached. */
void bcs_job_record_end(struct bcs_job_record *record,
                        const struct bcs_recorder_end *end);

#endif
