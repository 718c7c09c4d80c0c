/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the API calls share: the context (one process's attachment to its node), groups
 * (who may talk in one matching context) and requests (one operation in progress). Used
 * by the calling process only; a request belongs to its caller, who allocates it.
 */
#ifndef BCS_API_CONTEXT_H
#define BCS_API_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bcs_context; /* opaque here: see libbcs/api/attach.h */

#define BCS_ANY_SOURCE (-1)
#define BCS_ANY_TAG (-1)

/**
 * The processes of one communicator. context_id is even and the same on all members
 * and on no other group that has a member in common; point-to-point messages use
 * context_id, collectives use context_id + 1, so that the two never match.
 */
struct bcs_group {
    uint64_t context_id;
    int32_t rank;          /* of this process */
    int32_t size;
    const uint32_t *ports; /* [size] rank -> port (the process's number in the job) */
    uint32_t slot;         /* collective slot, the same on all members */
    uint32_t n_local;      /* members on this process's node */
    uint64_t sequence;     /* collectives started; advanced by the API only */
};

/** Whether a group has members on several nodes; the same on all members. */
static inline bool bcs_group_spans_nodes(const struct bcs_group *group)
{
    return group->n_local < (uint32_t)group->size;
}

/** What a request came to. */
struct bcs_result {
    int32_t source; /* rank in the group */
    int32_t tag;
    size_t n_bytes; /* that arrived in the buffer */
    int error;      /* 0 or BCS_E_TRUNCATED */
};

/** One operation in progress. Contents are the API's; read result once it is done. */
struct bcs_request {
    void *data;        /* receive: where to; send: where from */
    size_t n_bytes;    /* capacity or length */
    uint32_t cell;     /* completion cell in the port */
    bool is_done;
    bool is_send;
    struct bcs_result result;
};

#endif
