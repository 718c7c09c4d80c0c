/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short allgathers and alltoalls as one collective without point-to-point messages:
 * each member brings a vector that is zero but for its own blocks, and all get the
 * vectors joined by or. Internal to libbcs/api; called by the process that owns the
 * context.
 */
#ifndef LIBBCS_API_COLLECTIVE_COLLECTIVE_JOINED_H
#define LIBBCS_API_COLLECTIVE_COLLECTIVE_JOINED_H

#include "libbcs/api/context/context.h"
#include "libbcs/api/context/group.h"

/** Whether a blocking allgather whose blocks have so many bytes together goes so. */
bool bcs_allgather_fits(size_t n_bytes);

/** Such an allgather; this member's block is in its place. Errors as of
 *  bcs_engine_collective. */
int bcs_allgather_joined(struct bcs_context *context, struct bcs_group *group,
                         const struct bcs_blocks *blocks);

/** Whether a blocking alltoall goes so: its blocks have one length, and the members are
 *  near. Over nodes its messages are faster. The same at all members, unless their
 *  lengths differ. */
bool bcs_alltoall_fits(const struct bcs_context *context, const struct bcs_group *group,
                       const struct bcs_blocks *send, const struct bcs_blocks *receive);

/** Such an alltoall. Errors as of bcs_engine_collective. */
int bcs_alltoall_joined(struct bcs_context *context, struct bcs_group *group,
                        const struct bcs_blocks *send,
                        const struct bcs_blocks *receive);

#endif
