/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inside of a group, and the list of plans. Everything else that the calls of <bcs/bcs.h> share is in
 * there, or in libbcs/api/attach.h. Used by the calling process only.
 */
#ifndef BCS_API_CONTEXT_H
#define BCS_API_CONTEXT_H

#include <bcs/bcs.h>

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
    const uint32_t *ports; /* [size] rank -> port (the process's number in the job) */
    uint32_t slot;         /* collective slot, the same on all members */
    uint32_t n_local;      /* members on this process's node */
    /* Collectives by messages, blocking [0] and with a request [1]; advanced by the API only.
     * MPI wants one order of both, but libraries number them apart, and programs use it. */
    uint64_t n_started[2];
    /* Non-blocking collectives: how many plans are under way, and those that wait. */
    uint32_t n_open;
    struct bcs_plan *waiting_first, *waiting_last;
};

/** All plans of a context; see plan.h. */
struct bcs_plans {
    struct bcs_plan *first,
        *last; /* that nobody waits for, in the order of their turns */
    struct bcs_plan *free;
    struct bcs_step *free_steps;
    struct bcs_step_slab *slabs;
    bool is_moving; /* within bcs_plans_move */
};

/* bcs_message.space within collectives. */
enum { BCS_SPACE_COLLECTIVE = 1 };

/** Whether a group has members on several nodes; the same on all members. */
static inline bool bcs_group_spans_nodes(const struct bcs_group *group)
{
    return group->n_local < (uint32_t)group->size;
}

#endif
