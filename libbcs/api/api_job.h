/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What bcs_init adds to a context: the connection to the launcher, and the groups.
 * Internal to libbcs/api.
 */
#ifndef LIBBCS_API_API_JOB_H
#define LIBBCS_API_API_JOB_H

#include "libbcs/api/context/group.h"
#include "libbcs/api/job_record.h"
#include "libbcs/session/entry.h"

/** A group with its members, in the list of all groups of the context. */
struct bcs_job_group {
    struct bcs_group group;
    struct bcs_job_group *next;
    uint32_t
        recorded; /* its number for the MDS, and 1; 0: none yet; api_entry_points.c */
    uint32_t members[]; /* ranks in the job of all members, and then their ports */
};

/** Belongs to the context that bcs_init makes. */
struct bcs_job {
    struct bcs_entry entry;
    struct bcs_job_record record; /* of a job that bcs_init has joined */
    struct bcs_group *world;
    struct bcs_job_group *groups; /* all that this process is a member of */
    uint64_t n_groups;            /* made by the job; the same in every process */
};

/**
 * Join a job, all of whose processes do so, and make its world. A process may have
 * joined several, or be several processes of one: each context stands for itself.
 *
 * @param entry  the context's on success
 * @param map    as of bcs_attach
 * @return 0     end with bcs_finalize
 * @return <0    as bcs_attach, or -ENOMEM; the entry is still the caller's
 */
int bcs_job_join(const struct bcs_entry *entry, struct bcs_port_map *map,
                 struct bcs_context **context_out);

#endif
