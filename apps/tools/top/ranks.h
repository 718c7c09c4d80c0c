/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists of ranks as people read them. One thread.
 */
#ifndef APPS_TOOLS_TOP_RANKS_H
#define APPS_TOOLS_TOP_RANKS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/** The ranks below n_ranks of a list as "0-3,7", in which they are in their order.
 *  @param list  NULL: all @return an array, for json_decref; NULL: no memory */
json_t *ranks_read(const char *list, json_int_t n_ranks);

/** Whether ranks, an array in their order, have one. */
bool ranks_include(const json_t *ranks, json_int_t rank);

/** Ranks, an array in any order, in their order, and each of them once. For
 *  json_decref; NULL: no memory */
json_t *ranks_sorted(const json_t *ranks);

/** What a member of an object is visited with: its key, and the ranks that it has. */
typedef void ranks_visit_fn(const char *key, const json_t *member, void *arg);

/**
 * Visit the members of an object, those of the fewest ranks first: they are what is
 * odd. If they are more than n_most the one of most ranks comes as the last, so that it
 * is not left out.
 *
 * @param all  its members are arrays of ranks, or objects that have one as "ranks"
 * @return how many were left out; all, if there is no memory
 */
size_t ranks_visit(const json_t *all, size_t n_most, ranks_visit_fn *visit, void *arg);

/** Print ranks, an array in their order, as "0-3,7"; of many ranges the first ones. */
void ranks_print(const json_t *ranks);

#endif
