/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inside of a group. Everything else that the calls of <bcs/bcs.h> share is in
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
    uint64_t sequence;     /* collectives started; advanced by the API only */
};

/* bcs_message.space within collectives. */
enum { BCS_SPACE_COLLECTIVE = 1 };

/** Whether a group has members on several nodes; the same on all members. */
static inline bool bcs_group_spans_nodes(const struct bcs_group *group)
{
    return group->n_local < (uint32_t)group->size;
}

#endif
