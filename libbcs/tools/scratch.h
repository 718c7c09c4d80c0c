/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A folder, in memory if there is room, for all the files that Open MPI makes during one
 * job, so that they are gone afterwards whatever happened. Used by bcsrun only.
 */
#ifndef BCS_TOOLS_SCRATCH_H
#define BCS_TOOLS_SCRATCH_H

#include <limits.h>

/** A job's folder. It is in use as long as some process holds the lock on fd. */
struct scratch {
    char path[PATH_MAX];
    int fd;
};

/**
 * Remove the folders of dead jobs of this user, then make a new one, mode 0700, where
 * there is room for the files of n_ranks ranks.
 *
 * The lock passes to child processes, so that a folder counts as in use until the
 * last of them has ended.
 *
 * @return 0   scratch_out is filled; remove it with scratch_remove
 * @return <0  nowhere is enough room, or it cannot be made; printed
 */
int scratch_create(int n_ranks, struct scratch *scratch_out);

/** Remove the folders of dead jobs of this user. */
void scratch_sweep(void);

/** Remove the folder with all that is in it. */
void scratch_remove(struct scratch *scratch);

#endif
