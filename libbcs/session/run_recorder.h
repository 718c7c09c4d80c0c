/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MDS in a job: starts and stops the recording of a process, and has its results
 * printed, and written into the run's folder, if there is one. What can be recorded is
 * told by who enters: the MPI shim, the BCS API, cBSP, or channels. Called while a
 * process enters and leaves, in the thread that does so.
 */
#ifndef LIBBCS_SESSION_RUN_RECORDER_H
#define LIBBCS_SESSION_RUN_RECORDER_H

#include "libbcs/session/entry.h"
#include "mds/emds.h"
#include "mds/mmds.h"

struct bcs_recorder;

/**
 * Make ready to record, if the settings ask for anything: make the run's folder, if
 * there is to be one. Collective over the job, before a process attaches to what it
 * records. What cannot be had is told by bcs_recorder_begin, and the program goes on.
 *
 * @param bootstrap     by which processes exchange, until the recorder ends; copied
 * @param n_nodes       of the job
 * @param recorder_out end with bcs_recorder_end, or bcs_recorder_undo; NULL: nothing is
 * recorded
 * @return 0        ready
 * @return -ENOMEM  here; the others may wait for this process. Logged
 */
int bcs_recorder_open(const struct mds_config *config,
                      const struct bcs_bootstrap *bootstrap, uint32_t n_nodes,
                      struct bcs_recorder **recorder_out);

/** The folder of the run, until the recorder ends. Accepts NULL. @return NULL: there is
 *  none */
const char *bcs_recorder_folder(const struct bcs_recorder *recorder);

/** Start recording calls, if the settings ask for that. @param plan as of
 *  bcs_recorder_start. Accepts NULL. */
void bcs_recorder_begin(struct bcs_recorder *recorder, const struct mds_config *config,
                        struct mmds_plan *plan);

/** Take the folder away again, in which there is nothing any more, and free the
 *  recorder: no process could attach. Collective, if there is a folder. Accepts
 *  NULL. */
void bcs_recorder_undo(struct bcs_recorder *recorder);

/**
 * Start recording calls, if the settings ask for it, of what has no slices:
 * bcs_recorder_open and bcs_recorder_begin. Collective over the job. What cannot be had
 * is told, and the program goes on.
 *
 * @param n_nodes  of the job
 * @param plan the primitives, whether several threads call them, and what there is of
 *                 slices; the rest is filled in from the settings
 * @return end with bcs_recorder_end; NULL: nothing is recorded
 */
struct bcs_recorder *bcs_recorder_start(const struct bcs_entry *entry, uint32_t n_nodes,
                                        struct mmds_plan *plan);

/** Where calls of this process are recorded; NULL: they are not. Accepts NULL. */
struct mds_collect *bcs_recorder_collect(const struct bcs_recorder *recorder);

/** Stop recording: the process leaves its job. No call must find the recording any
 *  more. Accepts NULL. */
void bcs_recorder_stop(struct bcs_recorder *recorder);

/** What a process has come to that leaves its job. */
struct bcs_recorder_end {
    bool is_alone; /* something has gone wrong: the others may not come */
    uint64_t n_slices;
    struct mmds_strobes strobes;
    struct emds_summary slices; /* of all nodes, at the first rank; all zero: none */
    /* Calls that were left to the MPI library, by primitive. NULL: it has none. */
    const uint64_t *n_passed;
};

/** Write or print what was recorded, and free the recorder. Collective, unless the
 *  process is alone: then what it has recorded is left as that of one that was ended.
 *  Accepts NULL. */
void bcs_recorder_end(struct bcs_recorder *recorder,
                      const struct bcs_recorder_end *end);

/* What bcs_recorder_end does, for who leaves without waiting for others: nothing is
 * printed. */

/** Write what was recorded, if there is a folder. Accepts NULL. */
void bcs_recorder_write(struct bcs_recorder *recorder,
                        const struct bcs_recorder_end *end);

/** Free the recorder. @param is_last all processes of the job have written: say that
 *  the run has ended, and where it is. Accepts NULL. */
void bcs_recorder_leave(struct bcs_recorder *recorder, bool is_last);

#endif
