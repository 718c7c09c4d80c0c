/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the user is told when the members of a group are not in the same collective.
 * Called by the process that owns the context; by the shim, too, of lengths that a rank
 * can compare by itself.
 */
#ifndef LIBBCS_API_COLLECTIVE_DISAGREEMENT_H
#define LIBBCS_API_COLLECTIVE_DISAGREEMENT_H

#include "libbcs/api/context/group.h"

struct nic_refusal;

/**
 * A collective was refused; one member of those that know why prints a line.
 *
 * @return BCS_E_TRUNCATED: only the lengths differ; else BCS_E_DISAGREED
 */
int bcs_disagreement(struct bcs_context *context, const struct bcs_group *group,
                     const struct nic_refusal *refusal);

/** In a collective by messages a member has got one of another length than it expects,
 *  from one of peers; prints a line. @return BCS_E_TRUNCATED */
int bcs_wrong_length(struct bcs_context *context, const struct bcs_group *group,
                     const struct bcs_group *peers, const struct bcs_result *result,
                     size_t n_expected_bytes);

/** This process sends a block to itself that has another length than what it expects of
 *  itself; prints a line. @param rank its own */
void bcs_wrong_own_length(struct bcs_context *context, const struct bcs_group *group,
                          int32_t rank, size_t n_sent_bytes, size_t n_expected_bytes);

#endif
