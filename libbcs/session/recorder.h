/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MDS in a program without MPI: starts and stops the recording of a process, and has its
 * results printed, and written into the run's folder, if there is one. What can be recorded is
 * told by who enters: the BCS API, cBSP, or channels. Called while a process enters and leaves, in
 * the thread that does so.
 */
#ifndef BCS_SESSION_RECORDER_H
#define BCS_SESSION_RECORDER_H

#include "libbcs/session/entry.h"
#include "mds/mmds.h"

struct bcs_recorder;

/**
 * Start recording, if the settings ask for it. Collective over the job. What cannot be had is
 * told, and the program goes on.
 *
 * @param n_nodes  of the job
 * @param plan     the primitives, whether several threads call them, and what there is of slices;
 *                 the rest is filled in from the settings
 * @return end with bcs_recorder_end; NULL: nothing is recorded
 */
struct bcs_recorder *bcs_recorder_start(const struct bcs_entry *entry, uint32_t n_nodes,
                                        struct mmds_plan *plan);

/** Where calls of this process are recorded; NULL: they are not. Accepts NULL. */
struct mds_collect *bcs_recorder_collect(const struct bcs_recorder *recorder);

/** Stop recording: the process leaves its job. No call must find the recording any more. Accepts
 *  NULL. */
void bcs_recorder_stop(struct bcs_recorder *recorder);

/** What a process has come to that leaves its job. */
struct bcs_recorder_end {
    bool is_alone; /* something has gone wrong: the others may not come */
    uint64_t n_slices;
    struct mmds_strobes strobes;
};

/** Write or print what was recorded, and free the recorder. Collective, unless the process is
 *  alone: then what it has recorded is left as that of one that was ended. Accepts NULL. */
void bcs_recorder_end(struct bcs_recorder *recorder,
                      const struct bcs_recorder_end *end);

#endif
