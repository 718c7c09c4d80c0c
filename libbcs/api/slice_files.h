/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The slices of a run with a folder: the files that they are recorded in, which the
 * first process makes and all map before the engine begins, and those that are written
 * of them at the end. Called by job_record.c, while a process enters and leaves its
 * job, by the thread that does so.
 */
#ifndef BCS_API_SLICE_FILES_H
#define BCS_API_SLICE_FILES_H

#include "libbcs/session/bootstrap.h"
#include "mds/mds_config.h"

struct bcs_context;
struct bcs_port_map;
struct bcs_slice_files;
struct nic_config;

/** What these files depend on. */
struct bcs_slice_files_plan {
    const char *folder; /* of the run, shorter than MDS_PATH_BYTES */
    const struct mds_config *config;
    const struct nic_config *nic;   /* which says what is recorded */
    const struct bcs_port_map *map; /* of the job */
    struct bcs_bootstrap bootstrap; /* the same as that of bcs_attach; to the end */
};

/**
 * Make and map the files of all nodes, and of the strobe sender. Collective over the
 * bootstrap.
 *
 * @return 0        end with bcs_slice_files_close; whether there are files say
 *                  bcs_slice_files_places
 * @return -ENOMEM  here; the others may wait for this process. Logged
 */
int bcs_slice_files_open(const struct bcs_slice_files_plan *plan,
                         struct bcs_slice_files **files_out);

/** Where the engine is to record: nic_record_config.places. NULL: some process cannot
 *  have the files, so that none has, and slices are in NIC memory alone. */
char *const *bcs_slice_files_places(const struct bcs_slice_files *files);

/** The engine has set up what it records in: the files can be read from now on. Tells,
 *  too, if there are none. Accepts NULL. */
void bcs_slice_files_begin(const struct bcs_slice_files *files,
                           const struct bcs_context *context);

/**
 * Write the files of what was recorded, which take the place of those: of a node by its
 * first process, of all by the first one. Collective over the bootstrap; nothing is
 * under way any more. What cannot be written is told, and stays where it was recorded.
 *
 * @return 0    all processes are through
 * @return <0   as the exchange of the bootstrap: some process has not come
 */
int bcs_slice_files_write(const struct bcs_slice_files *files,
                          const struct bcs_context *context);

/** Take the files away: the job cannot begin. Nobody records in them. Accepts NULL. */
void bcs_slice_files_undo(struct bcs_slice_files *files);

/** Unmap and free all; what was not written stays in the folder. The process has
 *  detached. Accepts NULL. */
void bcs_slice_files_close(struct bcs_slice_files *files);

#endif
