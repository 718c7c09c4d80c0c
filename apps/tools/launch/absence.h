/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds out that BCS is not in the job that bcsrun has started, and says so: no MPI
 * process of it calls MPI through libbcs_mpi.so. A program without MPI, and one that
 * has not called MPI_Init yet, are passed over in silence. Used by bcsrun's keeper,
 * whose one thread calls this.
 */
#ifndef APPS_TOOLS_LAUNCH_ABSENCE_H
#define APPS_TOOLS_LAUNCH_ABSENCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "apps/tools/launch/rank_signs.h"

/** What one look at all processes of the job has found. */
struct absence_found {
    bool has_met;                     /* BCS is in one of them at least */
    int n_absent;                     /* MPI processes without BCS */
    int n_open;                       /* MPI processes that may still call it */
    pid_t pid;                        /* the first of those without */
    enum rank_absence reason;         /* its */
    char preload[RANK_PRELOAD_BYTES]; /* its LD_PRELOAD */
};

/** A job that is looked at, now and then. */
struct absence {
    uint64_t began_ns;
    uint64_t tell_ns;  /* so long after that the user is told */
    uint64_t pause_ns; /* until the next look */
    bool is_over;      /* no more looks: BCS is in the job, or the user has been told */
    struct absence_found found; /* by the last look that has found MPI processes */
};

/** Begin. @param patience_ns  of --patience, 0: none. @return when to look first, in
 *  nanoseconds */
uint64_t absence_begin(struct absence *absence, uint64_t patience_ns);

/**
 * Look at the job, and tell the user if it is time to.
 *
 * @param absence  a struct absence, as watch_child.looked
 * @return in how many nanoseconds to look again; 0: not any more
 */
uint64_t absence_look(void *absence);

/** The user asks where the job stands: tell at once if BCS is not in the job. @return
 *  whether it is told */
bool absence_ask(struct absence *absence);

/** The job has ended: tell the user, if that has not been done. */
void absence_end(struct absence *absence);

/** Add a process to what a look has found. */
void absence_add(struct absence_found *found, pid_t pid);

/** Whether a look has shown that BCS is not in the job. */
bool absence_is_sure(const struct absence_found *found);

#endif
