/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A folder, in memory if there is room, for all the files that Open MPI makes during
 * one job, so that they are gone afterwards whatever happened. Used by bcsrun only.
 */
#ifndef APPS_TOOLS_LAUNCH_SCRATCH_H
#define APPS_TOOLS_LAUNCH_SCRATCH_H

#include <limits.h>

/** A job's folder. It is in use as long as some process holds the lock on fd. */
struct scratch {
    char folder[PATH_MAX]; /* base/bcsrun-XXXXXX */
    char path[PATH_MAX];   /* of the folder in it that Open MPI's files go to */
    int fd;                /* of the folder */
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

/** As scratch_create in the folder base, whatever room there is. @return 0 or -errno */
int scratch_make(const char *base, struct scratch *scratch_out);

/** Remove the folders of dead jobs of this user, in each place where they may be. */
void scratch_sweep(void);

/** Remove the folder with all files of Open MPI. What else is in it stays. */
void scratch_remove(struct scratch *scratch);

#endif
