/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inside of a group. Used by the calling process only.
 */
#ifndef LIBBCS_API_CONTEXT_GROUP_H
#define LIBBCS_API_CONTEXT_GROUP_H

#include "libbcs/api/context/api_calls.h"
#include "libbcs/api/context/request_state.h"

enum { BCS_PERSISTENT_NUMBERS = 512 }; /* of a group's persistent collectives */

/**
 * The processes of one communicator. context_id is even and the same on all members
 * and on no other group that has a member in common; point-to-point messages use
 * context_id, collectives use context_id + BCS_SPACE_COLLECTIVE, so that the two never
 * match.
 */
struct bcs_group {
    uint64_t context_id;
    int32_t rank; /* of this process */
    int32_t size;
    const uint32_t *ports; /* [size] by rank: the member's port */
    uint32_t slot;         /* collective slot, the same on all members */
    uint32_t n_local;      /* members on this process's node */
    uint64_t n_near;       /* number of the last near collective; near_collective.c */
    uint64_t n_posted;     /* the same of those that were posted; engine_collective.c */
    uint32_t near_first;   /* members of one of its first blocks */
    bool is_taken;         /* one of several threads in the API is in one of these */
    /* Collectives by messages, blocking [0] and with a request [1]; advanced by the API
     * only. MPI wants one order of both, but libraries number them apart, and programs
     * use it. */
    uint64_t n_started[2];
    /* While a persistent collective is being started, which members may start in any
     * order: its number and 1. 0: none is. */
    uint32_t persistent;
    /* Non-blocking collectives: how many plans are under way, and those that wait. */
    uint32_t n_open;
    struct bcs_plan *waiting_first, *waiting_last;
    const uint32_t *ranks; /* [size] by rank: the member's rank in the job */
};

/** Whether a group has members on several nodes; the same on all members. */
static inline bool bcs_group_spans_nodes(const struct bcs_group *group)
{
    return group->n_local < (uint32_t)group->size;
}

#endif
