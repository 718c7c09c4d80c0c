/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The folder of a run: its name, and its manifest, a text with what the run was. Made
 * by one process of the job; all write their files into it.
 */
#ifndef MDS_RUN_FOLDER_H
#define MDS_RUN_FOLDER_H

#include <stddef.h>
#include <stdint.h>

#include "libbcs/fabric/base/config.h"

enum { MDS_PATH_BYTES = 2048 };

#define MDS_MANIFEST_NAME "manifest.txt"
#define MDS_MANIFEST_FORMAT "bcs-mds 1"
#define MDS_PROCESS_NAME "process.%05u.mds"
#define MDS_LIVE_NAME "process.%05u.live"
#define MDS_NODE_NAME "node.%05u.mds"
#define MDS_NODE_LIVE_NAME "node.%05u.live"
#define MDS_GLOBAL_NAME "global.mds"
#define MDS_GLOBAL_LIVE_NAME "global.live"
#define MDS_DEADLOCK_NAME "deadlock.json"
#define MDS_LINT_NAME "lint.json"

/** What a manifest tells. */
struct mds_manifest {
    uint32_t n_ranks, n_nodes;
    const char *state;                            /* "running" or "ended" */
    const struct bcs_config_table *const *tables; /* of settings, [n_tables] */
    size_t n_tables;
};

/**
 * Make a folder for this run, in one that is made, too, if it is not there.
 *
 * @param path_out its path, from the root, so that it holds wherever the program goes;
 *                  unlike that of any run before
 * @return 0 or -errno
 */
int mds_run_folder_make(const char *parent, char path_out[MDS_PATH_BYTES]);

/** Remove a folder that has nothing but a manifest. */
void mds_run_folder_remove(const char *folder);

/** Write the manifest, or write it anew. @return 0 or -errno */
int mds_manifest_write(const struct mds_manifest *manifest, const char *folder);

/** Say in the manifest that the run has ended; the rest stays as it was written,
 *  whoever did.
 *  @return 0 or -errno; -EINVAL: it is none */
int mds_manifest_end(const char *folder);

/** The path of a process's file. @return 0 or -ENAMETOOLONG */
int mds_process_path(const char *folder, uint32_t rank, char path_out[MDS_PATH_BYTES]);

/** The same of the file that a process records in; see live.h. */
int mds_live_path(const char *folder, uint32_t rank, char path_out[MDS_PATH_BYTES]);

/** The same of the file about a node's slices. */
int mds_node_path(const char *folder, uint32_t node, char path_out[MDS_PATH_BYTES]);

/** The path of the file about the slices of all nodes. @return 0 or -ENAMETOOLONG */
int mds_global_path(const char *folder, char path_out[MDS_PATH_BYTES]);

/** The same of the files that slices are recorded in; see live_slices.h. */
int mds_node_live_path(const char *folder, uint32_t node,
                       char path_out[MDS_PATH_BYTES]);

/** Of all nodes. @return 0 or -ENAMETOOLONG */
int mds_global_live_path(const char *folder, char path_out[MDS_PATH_BYTES]);

/** The path of the report of a deadlock. @return 0 or -ENAMETOOLONG */
int mds_deadlock_path(const char *folder, char path_out[MDS_PATH_BYTES]);

/** The path of the report of what the program has left. @return 0 or -ENAMETOOLONG */
int mds_lint_path(const char *folder, char path_out[MDS_PATH_BYTES]);

#endif
