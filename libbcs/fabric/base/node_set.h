/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Walking over sets of nodes on paths that are measured. A pure function on the
 * caller's memory.
 */
#ifndef LIBBCS_FABRIC_BASE_NODE_SET_H
#define LIBBCS_FABRIC_BASE_NODE_SET_H

#include <bcs/primitives.h>

/** bcs_node_set_next, without a call where the set is a range: nearly all are, of one
 *  node. */
static inline uint32_t bcs_node_set_step(const struct bcs_node_set *set, uint32_t from)
{
    uint32_t i = from > set->first ? from - set->first : 0;

    if (__builtin_expect(set->marks != NULL, 0)) {
        return bcs_node_set_next(set, from);
    }
    return i < set->n_nodes ? set->first + i : BCS_NODE_NONE;
}

#endif
