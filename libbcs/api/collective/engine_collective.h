/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The collectives that go without point-to-point messages: barriers, and broadcasts and
 * reductions whose data fit into a descriptor. The NIC engine carries them out, or,
 * where they are near, the members by themselves. Internal to libbcs/api; called by the
 * process that owns the context. [BCS-MPI section 4.4]
 */
#ifndef LIBBCS_API_COLLECTIVE_ENGINE_COLLECTIVE_H
#define LIBBCS_API_COLLECTIVE_ENGINE_COLLECTIVE_H

#include "libbcs/api/collective/collective_args.h"
#include "libbcs/api/context/group.h"

/** Whether data of this length can go so. */
bool bcs_engine_collective_fits(size_t n_bytes);

/** Take part in a collective and wait for its result. @return 0, BCS_E_TRUNCATED or
 *  BCS_E_DISAGREED if the members do not mean the same (logged), or -ENOMEM */
int bcs_engine_collective(struct bcs_context *context, struct bcs_group *group,
                          const struct bcs_engine_collective_args *args);

#endif
