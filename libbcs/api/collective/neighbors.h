/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchanges with the neighbours of a topology, beyond <bcs/bcs.h>: what the MPI shim
 * needs for neighbourhood collectives. Internal; called by the process that owns the
 * context.
 */
#ifndef LIBBCS_API_COLLECTIVE_NEIGHBORS_H
#define LIBBCS_API_COLLECTIVE_NEIGHBORS_H

#include "libbcs/api/context/group.h"

/** In a list of neighbours: there is none in this place. */
#define BCS_NO_NEIGHBOR (-1)

/** Whom a member receives from and sends to; any member may be there several times. */
struct bcs_neighbors {
    const int32_t *sources; /* [n_sources] */
    const int32_t *targets; /* [n_targets] */
    int32_t n_sources;
    int32_t n_targets;
    /* The lists are pairs, a lower and an upper neighbour in each dimension: what one
     * sends down comes from above. They matter where both are the same member. */
    bool is_cartesian;
};

/**
 * Block i of send goes to targets[i], block i of receive comes from sources[i]; those
 * without a neighbour are left alone. If the same two members exchange several blocks,
 * they go in the order of the lists. Every member of the group calls it.
 *
 * @param request  NULL: block until this member's part is done
 * @return 0, BCS_E_TRUNCATED, or -ENOMEM; see the collectives of <bcs/bcs.h>
 */
int bcs_neighbor_exchange(struct bcs_context *context, struct bcs_group *group,
                          const struct bcs_neighbors *neighbors,
                          const struct bcs_blocks *send,
                          const struct bcs_blocks *receive,
                          struct bcs_request *request);

#endif
