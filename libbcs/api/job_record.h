/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the MDS records of a process that attaches to the engine: its calls, and the
 * slices. Called by bcs_init and bcs_finalize, or by the MPI shim in MPI_Init and
 * MPI_Finalize, in their thread.
 */
#ifndef BCS_API_JOB_RECORD_H
#define BCS_API_JOB_RECORD_H

#include "libbcs/session/run_recorder.h"

struct bcs_context;
struct bcs_port_map;
struct nic_config;
struct bcs_slice_files;

/** What is recorded of a process. All zero: nothing. */
struct bcs_job_record {
    struct bcs_recorder *recorder;  /* NULL: nothing */
    struct bcs_slice_files *files;  /* of slices; NULL: none are recorded in a folder */
    struct bcs_bootstrap bootstrap; /* by which processes exchange */
};

/**
 * Make ready what the settings ask for: the run's folder, and files for slices there.
 * Before this process attaches; collective, if there is to be a folder. What cannot be
 * had is told by bcs_job_record_start, and the program goes on.
 *
 * @param bootstrap the same as that of bcs_attach; copied, and used until
 * bcs_job_record_end
 * @param map        of the job
 * @param nic        nic->record says then what the engine is to record
 * @return 0 end with bcs_job_record_end and bcs_job_record_close, or
 *                  bcs_job_record_undo
 * @return -ENOMEM  here; the others may wait for this process. Logged
 */
int bcs_job_record_prepare(const struct mds_config *config,
                           const struct bcs_bootstrap *bootstrap,
                           const struct bcs_port_map *map, struct nic_config *nic,
                           struct bcs_job_record *record_out);

/** Take back what was made ready: no process could attach. Collective, if there is a
 *  folder. */
void bcs_job_record_undo(struct bcs_job_record *record);

/**
 * The process has attached: start recording. The report of a deadlock goes into the
 * folder from now on, too.
 *
 * @param plan  the calls, and whether several threads make them; the rest is filled in
 */
void bcs_job_record_start(const struct bcs_job_record *record,
                          struct bcs_context *context, const struct mds_config *config,
                          struct mmds_plan *plan);

/** Stop recording calls: the process leaves its job. No call must find the recording
 *  any more. */
void bcs_job_record_stop(const struct bcs_job_record *record);

/**
 * Write the slices, or sum them up, while the context is still there. Collective, if
 * slices are recorded and the process is not alone.
 *
 * @param rc of the last call of the job; not 0: something has gone wrong, and the
 *            process leaves alone: then what is recorded in files stays there, as of a
 *            job that was ended
 */
struct bcs_recorder_end bcs_job_record_slices(const struct bcs_job_record *record,
                                              const struct bcs_context *context,
                                              int rc);

/** Write or print the rest. Collective, unless the process is alone; it may have
 *  detached. */
void bcs_job_record_end(struct bcs_job_record *record,
                        const struct bcs_recorder_end *end);

/** Free all. The process has detached. */
void bcs_job_record_close(struct bcs_job_record *record);

#endif
