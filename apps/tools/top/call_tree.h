/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of all ranks of a job as one tree: ranks that have come the same way stand
 * together, and where their ways part the tree has a branch for each. Pure.
 */
#ifndef APPS_TOOLS_TOP_CALL_TREE_H
#define APPS_TOOLS_TOP_CALL_TREE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "libbcs/fabric/ring/stand.h"

enum { CALL_TREE_STEPS = BCS_STAND_FRAMES + 1 }; /* of a path: places, and the call */

/** How a thread of a rank has come to where it is. Texts are the caller's. */
struct call_path {
    json_int_t rank;
    size_t n_steps; /* at least one */
    /* Places, the outermost first, and then the call, or what the rank does instead. */
    const char *steps[CALL_TREE_STEPS];
};

/**
 * Make the tree. Takes some n log n steps of n paths.
 *
 * @param paths  are sorted; a rank may have several
 * @return an array of nodes, each an object: "step", a text; "ranks", an array, in
 *         their order; "below", the nodes to which the paths go on, none where they
 *         end. Nodes of one array are ordered by how many ranks they have, the fewest
 *         first. For json_decref; NULL: no memory
 */
json_t *call_tree_of(struct call_path *paths, size_t n);

/** Whether all ranks of a tree have come the same way. */
bool call_tree_is_path(const json_t *tree);

#endif
