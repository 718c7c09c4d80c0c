/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of the engine's kinds among few processes of one node, by one line of
 * memory for each of them. Called by the process that owns the context, one thread at a
 * time.
 */
#ifndef LIBBCS_API_COLLECTIVE_NEAR_COLLECTIVE_H
#define LIBBCS_API_COLLECTIVE_NEAR_COLLECTIVE_H

#include <stdbool.h>

#include "libbcs/api/collective/collective_args.h"
#include "libbcs/api/context/group.h"

/** Whether the members of a group look at each other's lines; the same on all of
 *  them. */
bool bcs_group_is_near(const struct bcs_context *context,
                       const struct bcs_group *group);

/** bcs_engine_collective for such a group. */
int bcs_near_collective(struct bcs_context *context, struct bcs_group *group,
                        const struct bcs_engine_collective_args *args);

#endif
