/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tree of calls for people, at most a screen of it. One thread.
 */
#ifndef APPS_TOOLS_TOP_CALL_TREE_PRINT_H
#define APPS_TOOLS_TOP_CALL_TREE_PRINT_H

#include <jansson.h>

enum { CALL_TREE_LINES = 24 }; /* that are printed at most */

/**
 * Print a tree on standard output: a line for each part of a path between two branches,
 * with the ranks that have come this way. Of a tree that has too many lines it prints
 * the paths of the fewest ranks, and the one of most ranks; the last line then says how
 * much was left out.
 *
 * @param tree      of call_tree_of
 * @param n_indent  spaces in front of each line
 * @return 0 or -ENOMEM
 */
int call_tree_print(const json_t *tree, int n_indent);

#endif
