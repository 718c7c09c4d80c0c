/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The collectives that the NIC engine carries out itself: barriers, and broadcasts and
 * reductions whose data fit into a descriptor. Internal to libbcs/api; called by the
 * process that owns the context. [BCS-MPI section 4.4]
 */
#ifndef BCS_API_ENGINE_COLLECTIVE_H
#define BCS_API_ENGINE_COLLECTIVE_H

#include "libbcs/api/group.h"

enum bcs_engine_collective_kind {
    BCS_ENGINE_BARRIER,
    BCS_ENGINE_BCAST,
    BCS_ENGINE_REDUCE,
    BCS_ENGINE_ALLGATHER, /* carried out as a reduction */
};

struct bcs_engine_collective_args {
    enum bcs_engine_collective_kind kind;
    int root;       /* rank, or -1 for all (barrier, reduction to all) */
    int kernel;     /* reductions: nic_reduce_kernel number */
    size_t count;   /* reductions: elements */
    const void *in; /* broadcast: at the root; reduction: everywhere */
    void *out;      /* where this member gets data; may be equal to in */
    size_t n_bytes;
};

/** Whether data of this length can go through the engine. */
bool bcs_engine_collective_fits(size_t n_bytes);

/** Take part in a collective and wait for its result. @return 0, BCS_E_TRUNCATED or
 *  BCS_E_DISAGREED if the members do not mean the same (logged), or -ENOMEM */
int bcs_engine_collective(struct bcs_context *context, struct bcs_group *group,
                          const struct bcs_engine_collective_args *args);

#endif
