/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the user is told when the members of a group are not in the same collective. Internal
 * to libbcs/api; called by the process that owns the context.
 */
#ifndef BCS_API_DISAGREEMENT_H
#define BCS_API_DISAGREEMENT_H

#include "libbcs/api/context.h"

/**
 * The engine has refused a collective; one member of those that know why prints a line.
 *
 * @param cell  of this member, with a struct nic_refusal
 * @return BCS_E_TRUNCATED: only the lengths differ; else BCS_E_DISAGREED
 */
int bcs_disagreement(struct bcs_context *context, const struct bcs_group *group,
                     const struct bcs_cell *cell);

/** In a collective by messages a member has got one of another length than it expects, from
 *  one of peers; prints a line. @return BCS_E_TRUNCATED */
int bcs_wrong_length(const struct bcs_context *context, const struct bcs_group *group,
                     const struct bcs_group *peers, const struct bcs_result *result,
                     size_t n_expected_bytes);

#endif
