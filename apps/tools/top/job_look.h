/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one look at a job has found: plain data, from which rows are made (rows.h). A
 * look remembers nothing of the job but what it counts (apps/tools/look/traffic.h). One
 * thread.
 */
#ifndef APPS_TOOLS_TOP_JOB_LOOK_H
#define APPS_TOOLS_TOP_JOB_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "apps/tools/look/look.h"
#include "apps/tools/look/traffic.h"

/** A wait of a thread of a rank. */
struct job_wait {
    uint32_t rank;
    bool is_far;                  /* its process is on another machine, */
    struct bcs_stand_files files; /* and its frames in these files */
    struct bcs_stand stand;
};

/** The files of a wait that where.h needs. @return NULL: its process tells them */
static inline const struct bcs_stand_files *job_wait_files(const struct job_wait *wait)
{
    return wait->is_far ? &wait->files : NULL;
}

/** A rank. */
struct job_rank {
    int64_t pid;     /* 0: not known, or on another machine */
    int32_t core;    /* where it runs or ran last; -1: not known */
    uint64_t cpu_ns; /* that it has had in all; 0: not known */
    /* In how many of the glances after this look it was seen to be in a call that
     * waits. */
    uint32_t n_waiting, n_glances;
    uint32_t first_wait, n_waits; /* of the look's */
};

/** A look at a job. */
struct job_look {
    uint64_t now_ns;
    uint32_t n_ranks;
    struct job_rank *ranks;
    uint32_t n_waits, n_waits_room;
    struct job_wait *waits; /* by rank */
    uint32_t n_words;
    uint64_t *released_by; /* [n_waits][n_words], a bit for each rank that could end the
                              wait */
    /* Since the look before: */
    uint32_t n_flows;
    struct bcs_flow *flows;
    double n_collectives;
    uint64_t n_slices;
    bool has_moved;
};

/** Whether a rank could end a wait. */
static inline bool job_look_has(const struct job_look *look, uint32_t wait,
                                uint32_t rank)
{
    return look->released_by[(uint64_t)wait * look->n_words + rank / 64] >> rank % 64 &
           1;
}

/**
 * Look at a job, and ask the ranks that have told nothing.
 *
 * @param traffic   counts; of this job only
 * @param look_out  end with job_look_fini
 * @return 0, -ENOMEM or another -errno: the job has ended, say
 */
int job_look_take(const struct bcs_look *look, struct bcs_traffic *traffic,
                  struct job_look *look_out);

/** See which ranks wait now, and note that in a look: a sample of how they spend their
 *  time. */
void job_look_glance(const struct bcs_look *look, struct job_look *into);

/** Free what a look has. Accepts a zeroed one. */
void job_look_fini(struct job_look *look);

#endif
