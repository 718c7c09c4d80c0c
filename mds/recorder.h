/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The recording of one process, from its start to its file in the folder of the run.
 * Made by libbcs/session/run_recorder.c, which knows how the job's processes exchange.
 * What cannot be had is told, and the program goes on.
 */
#ifndef MDS_RECORDER_H
#define MDS_RECORDER_H

#include "mds/dump_process.h"
#include "mds/mds_config.h"
#include "mds/mmds.h"
#include "mds/run_folder.h"

/** What a process records, and where it goes. Zeroed at first; end with
 *  mds_recorder_drop. */
struct mds_recorder {
    struct mds_manifest
        manifest; /* of the run, but for its state; by who makes the folder */
    char folder[MDS_PATH_BYTES]; /* of the run; "": none */
    char live[MDS_PATH_BYTES];   /* the file that is recorded in; "": none */
    struct mds_collect *collect; /* NULL: this rank does not record */
};

/** Tell that something cannot be written. */
void mds_recorder_tell_unwritten(const char *what, int rc);

/** Make the folder of the run, with its manifest, by one process; the others are to
 *  learn its name. @return 0; or -errno: there is none, which is not told yet */
int mds_recorder_make_folder(struct mds_recorder *recorder, const char *parent);

/**
 * Start recording, in a file of the folder if there is one, else in memory alone.
 *
 * @param plan    but for the path, and for the shape, which follows from the settings
 * @param config  the settings, which also select the primitives that have distributions
 */
void mds_recorder_start(struct mds_recorder *recorder, struct mmds_plan *plan,
                        const struct mds_config *config);

/** Write this rank's file into the folder, in place of the one that was recorded in.
 *  @param process  but for what the recorder has: the recording, which has stopped */
void mds_recorder_write(struct mds_recorder *recorder, uint32_t rank,
                        struct mds_process *process);

/** All ranks have written: say so in the manifest, and to the user. By one process. */
void mds_recorder_tell_end(struct mds_recorder *recorder);

/** Give back what was recorded, and forget the folder. The file that it was recorded in
 *  goes if its rank has written its own. */
void mds_recorder_drop(struct mds_recorder *recorder);

#endif
