/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The slices of a run with a folder: the files that they are recorded in, which the first process
 * makes and all map before the engine begins, and those that are written of them at the end. All
 * are called in MPI_Init or MPI_Finalize, by the thread that makes these calls.
 */
#ifndef SHIM_MONITOR_SLICES_H
#define SHIM_MONITOR_SLICES_H

#include "mds/mds_config.h"

#pragma GCC visibility push(hidden)

struct nic_config;
struct shim_slices;

/** What these files depend on. */
struct shim_slices_plan {
    const char *folder; /* of the run; stays the caller's, until shim_slices_close */
    const struct mds_config *config;
    const struct nic_config *nic; /* which says what is recorded */
    uint32_t rank, n_ranks;
};

/**
 * Make and map the files of all nodes, and of the strobe sender. Collective.
 *
 * @return end with shim_slices_close; whether there are files say shim_slices_places. Without memory
 *         for them the job ends
 */
struct shim_slices *shim_slices_open(const struct shim_slices_plan *plan);

/** Where the engine is to record: nic_record_config.places. NULL: some process cannot have the files,
 *  so that none has, and slices are in NIC memory alone. */
char *const *shim_slices_places(const struct shim_slices *slices);

/** The engine has set up what it records in: the files can be read from now on. Tells, too, if there
 *  are none. Accepts NULL. */
void shim_slices_begin(const struct shim_slices *slices);

/** Write the files of what was recorded, which take the place of those. Collective; nothing is under way
 *  any more. */
void shim_slices_write(struct shim_slices *slices);

/** Take the files away: the job cannot begin. Nobody records in them. */
void shim_slices_undo(struct shim_slices *slices);

/** Unmap and free all. The process has detached. Accepts NULL. */
void shim_slices_close(struct shim_slices *slices);

#pragma GCC visibility pop

#endif
