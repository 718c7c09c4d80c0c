/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From what a process has recorded to its file. Called once, when recording has
 * stopped.
 */
#ifndef MDS_DUMP_PROCESS_H
#define MDS_DUMP_PROCESS_H

#include "mds/collect.h"
#include "mds/dump.h"

/** What a process's file tells. */
struct mds_process {
    struct mds_collect *collect; /* stopped */
    enum mds_dump_end end;
    uint64_t n_slices;
    const uint64_t
        *n_passed; /* calls that were left to the MPI library; NULL: unknown */
};

/**
 * Write the file.
 *
 * @return 0   it is there, whole
 * @return <0  -errno; there is none
 */
int mds_dump_process_write(const struct mds_process *process, const char *path);

/** The same as bytes in memory. @return 0, *bytes_out is for free; or -ENOMEM */
int mds_dump_process_bytes(const struct mds_process *process, char **bytes_out,
                           size_t *n_bytes_out);

#endif
